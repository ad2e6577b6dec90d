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
    def prim(W9: T.Buffer((T.int64(2), T.int64(2)), "int8"), n: T.int64, T21: T.Buffer((n + T.int64(3), T.int64(1)), "int32")):
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((n, T.int64(2)), "int8")
        R14 = T.sblock_alloc_buffer((n, T.int64(2)), "int32")
        for i15, i16, i17 in T.grid(n, T.int64(2), T.int64(2)):
            with T.sblock("mm10"):
                v11, v12, k13 = T.axis.remap("SSR", [i15, i16, i17])
                T.reads(T6[v11, k13], W9[k13, v12])
                T.writes(R14[v11, v12])
                with T.init():
                    R14[v11, v12] = 0
                R14[v11, v12] = T.Cast("int32", T6[v11, k13]) * T.Cast("int32", W9[k13, v12])
        with T.sblock("pad18"):
            v19 = T.axis.spatial(T.int64(2), T.int64(0))
            v20 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(R14[T.int64(0), v20])
            T.writes(T21[v19, v20])
            T21[v19, v20] = R14[T.int64(0), v20]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="int8")) -> R.Tensor((2, 1), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, 2), out_ty=R.Tensor((2, 1), dtype="int32"))
        return a
