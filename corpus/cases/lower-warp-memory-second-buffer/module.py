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
    def prim(T10: T.Buffer((1, 2), "int8")):
        for i1 in T.thread_binding(1, thread="blockIdx.x"):
            for i5 in T.thread_binding(2, thread="threadIdx.x"):
                S8 = T.alloc_buffer((2,), "int32", scope="warp")
                S8[i5] = 1
                S9 = T.alloc_buffer((2,), scope="warp")
                S9[i5] = T.float32(1.0)
                T10[i1, i5] = T.if_then_else(S9[0] >= T.float32(-1.0), T.int8(-5), T.int8(1))

    @R.function
    def main() -> R.Tensor((1, 2), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 2), dtype="int8"))
        return a
