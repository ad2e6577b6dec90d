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
    def main(n: T.int32, A: T.Buffer((n,), "int32"), C: T.Buffer((n,), "int32")):
        # with T.sblock("root"):
        for j, i in T.grid(1, n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                T.reads(A[v])
                T.writes(C[v])
                C[v] = A[v]
