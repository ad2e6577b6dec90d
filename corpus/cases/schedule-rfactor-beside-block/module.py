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
    def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32"), C: T.Buffer((), "int32")):
        # with T.sblock("root"):
        with T.sblock("w"):
            T.reads(A[0:4])
            T.writes(B[0:4])
            B[0] = A[0]
        for i in range(4):
            with T.sblock("r"):
                k = T.axis.reduce(4, i)
                T.reads(A[k])
                T.writes(C[()])
                with T.init():
                    C[()] = 0
                C[()] = C[()] + A[k]
