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
    def main(A: T.Buffer((T.int64(1),), "int32"), C: T.Buffer((T.int64(1),), "int32")):
        # with T.sblock("root"):
        for i in range(T.int64(1), T.int64(2)):
            with T.sblock("b"):
                v = T.axis.spatial(T.int64(1), i - T.int64(1))
                T.reads(A[v])
                T.writes(C[v])
                C[v] = A[v]
