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
    def prim(T3: T.Buffer((T.int64(1), T.int64(3)), "int8")):
        T3[T.int64(0), T.popcount(T.int64(-5)) % T.int64(3)] = T.int8(1)

    @R.function
    def main() -> R.Tensor((1, 3), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 3), dtype="int8"))
        return a
