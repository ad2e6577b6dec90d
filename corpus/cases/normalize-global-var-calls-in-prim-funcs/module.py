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
    def callee15(p16: T.handle("int8", "global"), x18: T.int8, x19: T.int64):
        Y17 = T.decl_buffer((T.int64(1),), "int8", data=p16)

    @T.prim_func(private=True, s_tir=True)
    def prim(T25: T.Buffer((T.int64(1), T.int64(1)), "int8")):
        T25[T.int64(0), T.int64(0)] = T.int8(1) >> T.int8(1)
        tvm.ir.Call(Module.callee15, [T.address_of(T25[T.int64(0), T.int64(0)]), T.int8(1), T.int64(1)], ret_ty="void")

    @R.function
    def main() -> R.Tensor((1, 1), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="int8"))
        return a
