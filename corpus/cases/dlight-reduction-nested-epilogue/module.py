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
    def prim(W8: T.Buffer((T.int64(2), T.int64(1)), "float16"), T22: T.Buffer((T.int64(2), T.int64(1)), "float16")):
        # with T.sblock("root"):
        R13 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)))
        for i14, i15, i16 in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("mm9"):
                v10, v11, k12 = T.axis.remap("SSR", [i14, i15, i16])
                T.reads(W8[k12, v11])
                T.writes(R13[v10, v11])
                with T.init():
                    R13[v10, v11] = T.float32(0.0)
                R13[v10, v11] = R13[v10, v11] + T.Cast("float32", W8[k12, v11])
        for i25 in range(T.int64(1)):
            with T.sblock("tile17"):
                v18 = T.axis.spatial(T.int64(1), T.int64(0))
                v19 = T.axis.spatial(T.int64(1), i25)
                T.reads()
                T.writes(T22[v18, T.int64(1):T.int64(5)])
                with T.sblock("inner20"):
                    v21 = T.axis.spatial(T.int64(1), T.int64(0))
                    T.reads()
                    T.writes(T22[v18, T.int64(0)])
                    T22[v18, T.int64(0)] = T.float16(1.0)

    @R.function
    def main(x: R.Tensor((2, 1), dtype="float16")) -> R.Tensor((2, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 1), dtype="float16"))
        return a
