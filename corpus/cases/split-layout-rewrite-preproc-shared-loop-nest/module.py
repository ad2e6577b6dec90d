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
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(X: T.Buffer((2, 2), "float32"), W: T.Buffer((2, 2), "float32"), O: T.Buffer((2, 2), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((2, 2))
        for i, j in T.grid(2, 2):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(W[v_j, v_i])
                T.writes(rewrite[v_i, v_j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                rewrite[v_i, v_j] = W[v_j, v_i]
        for i, j in T.grid(2, 2):
            with T.sblock("compute"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(X[v_i, v_j], rewrite[v_i, v_j])
                T.writes(O[v_i, v_j])
                O[v_i, v_j] = X[v_i, v_j] + rewrite[v_i, v_j]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32"), w: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim2, (x, w), out_ty=R.Tensor((2, 2), dtype="float32"))
        return a
