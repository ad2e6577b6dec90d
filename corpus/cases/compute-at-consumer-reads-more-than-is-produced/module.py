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
    def padded(B: T.Buffer((2,), "int64")):
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((1,), "int64")
        for i, j in T.grid(1, 2):
            with T.sblock("sum"):
                v, k = T.axis.remap("SR", [i, j])
                T.reads()
                T.writes(S[v])
                with T.init():
                    S[v] = T.int64(0)
                T.evaluate(0)
        for i in range(2):
            with T.sblock("pad"):
                v = T.axis.spatial(2, i)
                T.reads(S[v])
                T.writes(B[v])
                B[v] = T.if_then_else(v < 1, S[v], T.int64(7))

    @R.function
    def main() -> R.Tensor((2,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.padded, R.tuple(), out_ty=R.Tensor((2,), dtype="int64"))
        return a
