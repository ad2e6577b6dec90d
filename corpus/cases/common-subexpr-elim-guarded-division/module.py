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
    def prim(O13: T.Buffer((T.int64(2), T.int64(2), T.int64(2)), "int64")):
        for i11 in range(T.int64(2)):
            x12: T.let[T.int8] = T.if_then_else(T.Cast("int8", i11) != T.int8(0), T.int8(1) % T.Cast("int8", i11), T.int8(-1))
            O13[T.int64(0), T.int64(0), i11] = T.Cast("int64", x12)

    @R.function
    def main() -> R.Tensor((2, 2, 2), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2, 2, 2), dtype="int64"))
        return a
