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
    def prim(V1: T.Buffer((1,), "uint8"), O4: T.Buffer((1, 1), "int64")):
        x3: T.let[T.int64] = (T.Cast("int64", V1[0]) - T.int64(1)) * T.int64(-3) + (T.int64(1) - T.Cast("int64", V1[0])) * T.int64(-3)
        O4[0, 0] = T.if_then_else(x3 != T.int64(0), x3 % x3, T.int64(-7))

    @R.function
    def main(x: R.Tensor((1,), dtype="uint8")) -> R.Tensor((1, 1), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1, 1), dtype="int64"))
        return a
