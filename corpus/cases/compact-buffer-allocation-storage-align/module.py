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
    def prim():
        # with T.sblock("root"):
        T10 = T.sblock_alloc_buffer((T.int64(1),), "int8")
        with T.sblock("copy8"):
            v9 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T10[v9])
            T10[v9] = T.int8(1)
