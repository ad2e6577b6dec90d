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
    def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4,), "int32")
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = A[v]
        with T.sblock("c"):
            T.reads(B[0:4])
            T.writes(C[0:4])
            M = T.match_buffer(B[0:4], (4,), "int32", offset_factor=1)
            for j in range(4):
                with T.sblock("d"):
                    w = T.axis.spatial(4, j)
                    T.reads(M[w])
                    T.writes(C[w])
                    C[w] = M[w]
