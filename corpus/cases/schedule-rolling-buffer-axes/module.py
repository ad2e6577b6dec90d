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
    def prim(T5: T.Buffer((1, 8), "float32"), R18: T.Buffer((1, 2), "float32")):
        # with T.sblock("root"):
        T11 = T.sblock_alloc_buffer((1, 8))
        for j4 in range(8):
            x6: T.let[T.float32] = T.Cast("float32", j4)
            T5[0, j4] = x6
        for i12 in range(8):
            with T.sblock("map8"):
                v9 = T.axis.spatial(8, i12)
                v10 = T.axis.spatial(1, 0)
                T.reads(T5[v10, v9])
                T.writes(T11[v10, v9])
                T11[v10, v9] = T5[v10, v9]
        for i19, i20, i21 in T.grid(1, 2, 2):
            with T.sblock("win14"):
                v15, v16, k17 = T.axis.remap("SSR", [i19, i20, i21])
                T.reads(T11[v15, v16 + k17])
                T.writes(R18[v15, v16])
                R18[v15, v16] = T11[v15, v16 + k17]

    @R.function
    def main() -> R.Tuple(R.Tensor((1, 8), dtype="float32"), R.Tensor((1, 2), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((1, 8), dtype="float32"), R.Tensor((1, 2), dtype="float32")])
        return a
