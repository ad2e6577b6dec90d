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
    def prim(A: T.Buffer((4,), "float32"), C: T.Buffer((6,), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4,))
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = A[v]
        for i in range(6):
            with T.sblock("c"):
                v = T.axis.spatial(6, i)
                T.reads(B[v - 1])
                T.writes(C[v])
                C[v] = T.if_then_else(1 <= v and v < 5, B[v - 1], T.float32(0.0))

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((6,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((6,), dtype="float32"))
        return a
