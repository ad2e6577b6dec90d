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
    def main(A: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((1,), "int32")
        for i in range(1):
            with T.sblock("b"):
                v = T.axis.opaque(1, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = A[v]
