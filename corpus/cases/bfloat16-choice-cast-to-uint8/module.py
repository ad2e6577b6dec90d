from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T9: T.Buffer((T.int64(1), m), "uint8")):
        x8 = T.uint8()
        T9[T.int64(0), T.int64(0)] = T.Let(T.uint8(1), where={x8: T.Cast("uint8", T.if_then_else(T.int64(1) < m, T.bfloat16(1.0), T.bfloat16(0.0)))})

    @R.function
    def main() -> R.Tensor((1, 1), dtype="uint8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="uint8"))
        return a
