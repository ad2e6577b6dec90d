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
    def main(C: T.Buffer((4, 0), "int32")):
        # with T.sblock("root"):
        for i, j in T.grid(4, 0):
            with T.sblock("b"):
                v, w = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(C[v, w])
                C[v, w] = 1
