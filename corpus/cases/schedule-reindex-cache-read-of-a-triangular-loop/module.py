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
    def prim(T5: T.Buffer((T.int64(1), T.int64(2)), "float16"), T25: T.Buffer((T.int64(2), T.int64(1)), "float16")):
        # with T.sblock("root"):
        T19 = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "float16")
        for i20 in range(T.int64(2)):
            with T.sblock("map15"):
                v16 = T.axis.spatial(T.int64(2), i20)
                v17 = T.axis.spatial(T.int64(1), T.int64(0))
                T.reads(T5[v17, v16])
                T.writes(T19[v16, v17])
                T19[v16, v17] = T5[v17, v16]
        for i26 in range(T.int64(2)):
            with T.sblock("map22"):
                v23 = T.axis.spatial(T.int64(2), i26)
                T.reads(T19[T.int64(0):v23 + T.int64(1), T.int64(0)])
                T.writes(T25[v23, T.int64(0)])
                T25[v23, T.int64(0)] = T19[T.int64(0), T.int64(0)]

    @R.function
    def main(x: R.Tensor((1, 2), dtype="float16")) -> R.Tensor((2, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 1), dtype="float16"))
        return a
