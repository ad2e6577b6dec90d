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
    def callee11(p12: T.handle("float64", "global"), x14: T.float64):
        Y13 = T.decl_buffer((T.int64(2),), "float64", data=p12)
        for i17 in range(T.int64(2)):
            Y13[i17] = x14

    @T.prim_func(private=True, s_tir=True)
    def prim(T19: T.Buffer((T.int64(2), T.int64(2)), "float64")):
        T19[T.int64(0), T.int64(0)] = T.float64(1.0)
        tvm.ir.Call(Module.callee11, [T.address_of(T19[T.int64(0), T.int64(0)]), T.float64(-3.5) - T19[T.int64(0), T.int64(0)]], ret_ty="void")

    @R.function
    def main() -> R.Tensor((2, 2), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2, 2), dtype="float64"))
        return a
