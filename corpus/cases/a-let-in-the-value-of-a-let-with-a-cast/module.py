from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T14: T.Buffer((T.int64(2),), "uint8")):
        for i15 in range(T.int64(2)):
            x12 = T.int32()
            x13 = T.uint8()
            T14[i15] = T.Let(x13, where={x13: T.Let(T.uint8(0), where={x12: T.Cast("int32", i15)})})

    @R.function
    def main() -> R.Tensor((2,), dtype="uint8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2,), dtype="uint8"))
        return a
