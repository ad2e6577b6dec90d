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
    def prim1(A: T.Buffer((3, 1), "float32"), compute: T.Buffer((3, 1), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((3, 1))
        for i, j in T.grid(3, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(rewrite[v_i, v_j])
                rewrite[v_i, v_j] = T.float32(1.0)
        for i in range(3):
            with T.sblock("compute"):
                v_i = T.axis.spatial(3, i)
                v_j = T.axis.spatial(1, 0)
                T.reads(A[v_i, v_j], rewrite[v_i, v_j])
                T.writes(compute[v_i, v_j])
                compute[v_i, v_j] = A[v_i, v_j] - rewrite[v_i, v_j]

    @T.prim_func(private=True, s_tir=True)
    def prim2(A: T.Buffer((3, 1), "float32"), compute: T.Buffer((3, 1), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((3, 1))
        for i, j in T.grid(3, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(rewrite[v_i, v_j])
                rewrite[v_i, v_j] = T.float32(1.0)
        for i in range(3):
            with T.sblock("compute"):
                v_i = T.axis.spatial(3, i)
                v_j = T.axis.spatial(1, 0)
                T.reads(A[v_i, v_j], rewrite[v_i, v_j])
                T.writes(compute[v_i, v_j])
                compute[v_i, v_j] = A[v_i, v_j] - rewrite[v_i, v_j]

    @R.function
    def main(x: R.Tensor((3, 1), dtype="float32")) -> R.Tensor((3, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((3, 1), dtype="float32"))
        b = R.call_tir(cls.prim2, (a,), out_ty=R.Tensor((3, 1), dtype="float32"))
        return b

Module["prim2"] = Module["prim1"]
