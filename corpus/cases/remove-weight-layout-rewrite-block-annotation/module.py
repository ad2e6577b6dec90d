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
    def prim1(W: T.Buffer((1, 1), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((1, 1))
        with T.sblock("rewrite"):
            v_i = T.axis.spatial(1, 0)
            v_j = T.axis.spatial(1, 0)
            T.reads(W[v_j, v_i])
            T.writes(rewrite[v_i, v_j])
            T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
            rewrite[v_i, v_j] = W[v_j, v_i]
