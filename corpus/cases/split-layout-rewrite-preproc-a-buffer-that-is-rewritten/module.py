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
    def prim1(W: T.Buffer((4, 4), "float32"), compute: T.Buffer((4, 4), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((4, 4))
        for i, j in T.grid(1, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(W[v_j, v_i])
                T.writes(rewrite[v_i, v_j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                rewrite[v_i, v_j] = W[v_j, v_i]

    @T.prim_func(private=True, s_tir=True)
    def prim2(W: T.Buffer((4, 4), "float32"), compute: T.Buffer((4, 4), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((4, 4))
        for i, j in T.grid(1, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(W[v_j, v_i])
                T.writes(rewrite[v_i, v_j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                rewrite[v_i, v_j] = W[v_j, v_i]

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((4, 4), dtype="float32"))
            b = R.call_tir(cls.prim2, (a,), out_ty=R.Tensor((4, 4), dtype="float32"))
            R.output(b)
        return b

Module["prim2"] = Module["prim1"]
