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
    @T.prim_func(private=True, s_tir=True)
    def prim(A1: T.Buffer((T.int64(1), T.int64(1)), "float32"), T19: T.Buffer((T.int64(1), T.int64(2)), "float32")):
        # with T.sblock("root"):
        for i21 in range(T.int64(2)):
            with T.sblock("map16"):
                v17 = T.axis.spatial(T.int64(1), T.int64(0))
                v18 = T.axis.spatial(T.int64(2), i21)
                T.reads(A1[v18 + T.int64(-1), v18])
                T.writes(T19[v17, v18])
                T19[v17, v18] = T.if_then_else(T.int64(0) <= v18 + T.int64(-1), A1[v18 + T.int64(-1), v18], T.float32(0.0))
