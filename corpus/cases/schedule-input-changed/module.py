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
    def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        # with T.sblock("root"):
        for i in range(2):
            with T.sblock("tile"):
                vo = T.axis.spatial(2, i)
                T.reads(A[vo * 4:vo * 4 + 4])
                T.writes(C[vo * 4:vo * 4 + 4])
                for j in range(4):
                    with T.sblock("inner"):
                        vi = T.axis.spatial(4, j)
                        T.reads(A[vo * 4 + vi])
                        T.writes(C[vo * 4 + vi])
                        C[vo * 4 + vi] = A[vo * 4 + vi]
