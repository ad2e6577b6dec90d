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
    def prim(A: T.Buffer((2, 2), "float32"), C: T.Buffer((2,), "float32"), D: T.Buffer((2,), "float32")):
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((2,))
        B = T.sblock_alloc_buffer((2,))
        for i, k in T.grid(2, 2):
            with T.sblock("sum"):
                v, vk = T.axis.remap("SR", [i, k])
                T.reads(A[v, vk])
                T.writes(S[v])
                with T.init():
                    S[v] = T.float32(0.0)
                S[v] = S[v] + A[v, vk]
        for i in range(2):
            with T.sblock("bias"):
                v = T.axis.spatial(2, i)
                T.reads(C[v])
                T.writes(B[v])
                B[v] = C[v]
        for i in range(2):
            with T.sblock("epilogue"):
                v = T.axis.spatial(2, i)
                T.reads(S[v], B[v])
                T.writes(D[v])
                D[v] = S[v] + B[v]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32"), c: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, c), out_ty=R.Tensor((2,), dtype="float32"))
        return a
