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
    def rows(A: T.Buffer((2, 64), "int32"), B: T.Buffer((2, 64), "int32")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((2,), "int32", scope="shared")
        for y in T.thread_binding(2, thread="threadIdx.y"):
            for x in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("sum"):
                    v, k = T.axis.remap("SR", [y, x])
                    T.reads(A[v, k])
                    T.writes(S[v])
                    with T.init():
                        S[v] = 0
                    S[v] = S[v] + A[v, k]
            for x in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("use"):
                    v, w = T.axis.remap("SS", [y, x])
                    T.reads(S[v])
                    T.writes(B[v, w])
                    B[v, w] = S[v]

    @R.function
    def main(x: R.Tensor((2, 64), dtype="int32")) -> R.Tensor((2, 64), dtype="int32"):
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.rows, (x,), out_ty=R.Tensor((2, 64), dtype="int32"))
            R.output(r)
        return r
