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
    def trace(A: T.Buffer((2, 2), "int32"), D: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((2, 2), "int32")
        for i, j in T.grid(2, 2):
            with T.sblock("double"):
                v, w = T.axis.remap("SS", [i, j])
                T.reads(A[v, w])
                T.writes(B[v, w])
                B[v, w] = A[v, w] * 2
        for i in range(2):
            with T.sblock("sum"):
                v = T.axis.spatial(1, 0)
                k = T.axis.reduce(2, i)
                T.reads(B[k, k])
                T.writes(D[v])
                with T.init():
                    D[v] = 0
                D[v] = D[v] + B[k, k]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="int32")) -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.trace, (x,), out_ty=R.Tensor((1,), dtype="int32"))
        return a
