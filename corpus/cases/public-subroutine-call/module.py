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
    @T.prim_func(s_tir=True)
    def callee13(p14: T.handle("float32", "global")):
        Y15 = T.decl_buffer((T.int64(1),), data=p14)

    @T.prim_func(private=True, s_tir=True)
    def prim(T17: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T17[T.int64(0), T.int64(0)] = T.float32(1.0)
        tvm.ir.Call(Module.callee13, [T.address_of(T17[T.int64(0), T.int64(0)])], ret_ty="void")

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
