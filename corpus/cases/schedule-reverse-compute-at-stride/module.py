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
    def main(A: T.Buffer((8,), "int32"), C: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((8,), "int32")
        for i in range(8):
            with T.sblock("b"):
                v = T.axis.spatial(8, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = A[v]
        for i in range(4):
            with T.sblock("c"):
                v = T.axis.spatial(4, i)
                T.reads(B[v * 2])
                T.writes(C[v])
                C[v] = B[v * 2]
