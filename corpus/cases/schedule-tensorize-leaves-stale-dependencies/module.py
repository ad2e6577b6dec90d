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
    def prim(W8: T.Buffer((T.int64(4), T.int64(4)), "float32"), R13: T.Buffer((T.int64(64), T.int64(4)), "float32")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((T.int64(64), T.int64(4)))
        with T.sblock("reshape2"):
            v3 = T.axis.spatial(T.int64(1), T.int64(0))
            v4 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T5[v3, v4])
            T5[v3, v4] = T.float32(1.0)
        for i14, i15, i16 in T.grid(T.int64(64), T.int64(4), T.int64(4)):
            with T.sblock("mm9"):
                v10, v11, k12 = T.axis.remap("SSR", [i14, i15, i16])
                T.reads(T5[v10, k12], W8[k12, v11])
                T.writes(R13[v10, v11])
                with T.init():
                    R13[v10, v11] = T.float32(0.0)
                R13[v10, v11] = R13[v10, v11] + T5[v10, k12] * W8[k12, v11]

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((64, 4), dtype="float32"))
        return a

Module["prim"] = laid_out(Module["prim"], "R13")
