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
    def prim(A1: T.Buffer((T.int64(1), T.int64(2)), "int8"), W8: T.Buffer((T.int64(2), T.int64(1)), "int8"), R13: T.Buffer((T.int64(2), T.int64(2)), "int32")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "int8")
        for i6, i7 in T.grid(T.int64(2), T.int64(1)):
            with T.sblock("map2"):
                v3, v4 = T.axis.remap("SS", [i6, i7])
                T.reads(A1[v4, 0:T.int64(2)])
                T.writes(T5[v3, v4])
                T5[v3, v4] = A1[v4, ~T.int64(-2)]
        for i14, i15, i16 in T.grid(T.int64(2), T.int64(2), T.int64(1)):
            with T.sblock("mm9"):
                v10, v11, k12 = T.axis.remap("SSR", [i14, i15, i16])
                T.reads(T5[v10, k12], W8[v11, k12])
                T.writes(R13[v10, v11])
                with T.init():
                    R13[v10, v11] = 0
                R13[v10, v11] = R13[v10, v11] + T.Cast("int32", T5[v10, k12]) * T.Cast("int32", W8[v11, k12])

    @R.function
    def main(x: R.Tensor((1, 2), dtype="int8"), y: R.Tensor((2, 1), dtype="int8")) -> R.Tensor((2, 2), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((2, 2), dtype="int32"))
        return a
