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
    def prim2(T14: T.Buffer((T.int64(1), T.int64(1)), "float16")):
        # with T.sblock("root"):
        R7 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)), "int32")
        for i8, i9, i10 in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("win3"):
                v4, v5, k6 = T.axis.remap("SSR", [i8, i9, i10])
                T.reads()
                T.writes(R7[v4, v5])
                T.sblock_attr({"buffer_dim_align": [[0, 1, 16, 0]]})
                with T.init():
                    R7[v4, v5] = -2147483648
                R7[v4, v5] = T.max(R7[v4, v5], 1)
        for i15, i16 in T.grid(T.int64(1), T.int64(1)):
            with T.sblock("map11"):
                v12, v13 = T.axis.remap("SS", [i15, i16])
                T.reads()
                T.writes(T14[v12, v13])
                T14[v12, v13] = T.float16(1.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim2, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float16"))
        return a
