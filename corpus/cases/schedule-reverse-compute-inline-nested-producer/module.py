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
    def prim(A: T.Buffer((6,), "float32"), C: T.Buffer((8,), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((6,))
        for i in range(3):
            with T.sblock("tile"):
                v = T.axis.spatial(3, i)
                T.reads(A[v * 2:v * 2 + 2])
                T.writes(B[v * 2:v * 2 + 2])
                for j in range(2):
                    with T.sblock("inner"):
                        w = T.axis.spatial(2, j)
                        T.reads(A[v * 2 + w])
                        T.writes(B[v * 2 + w])
                        B[v * 2 + w] = A[v * 2 + w]
        for i in range(8):
            with T.sblock("pad"):
                u = T.axis.spatial(8, i)
                T.reads(B[u - 2])
                T.writes(C[u])
                C[u] = T.if_then_else(2 <= u, B[u - 2], T.float32(1.0))

    @R.function
    def main(x: R.Tensor((6,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((8,), dtype="float32"))
        return a
