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

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4,), "int32")
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(B[v])
                x = T.int32()
                B[v] = T.Let(x * x, where={x: A[v]})
        for i in range(4):
            with T.sblock("c"):
                v = T.axis.spatial(4, i)
                T.reads(B[v])
                T.writes(C[v])
                C[v] = B[v]
        for i in range(4):
            with T.sblock("d"):
                v = T.axis.spatial(4, i)
                T.reads(B[v])
                T.writes(D[v])
                D[v] = B[v]
