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
    def prim(A1: T.Buffer((T.int64(8), T.int64(16)), "float32"), W4: T.Buffer((T.int64(16), T.int64(16)), "float32"), T16: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        # with T.sblock("root"):
        R9 = T.sblock_alloc_buffer((T.int64(8), T.int64(16)))
        for i10, i11, i12 in T.grid(T.int64(8), T.int64(16), T.int64(16)):
            with T.sblock("mm5"):
                v6, v7, k8 = T.axis.remap("SSR", [i10, i11, i12])
                T.reads(A1[v6, k8], W4[k8, v7])
                T.writes(R9[v6, v7])
                with T.init():
                    R9[v6, v7] = T.float32(0.0)
                R9[v6, v7] = R9[v6, v7] + A1[v6, k8] * W4[k8, v7]
        with T.sblock("half13"):
            v14 = T.axis.spatial(T.int64(1), T.int64(0))
            v15 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(R9[v14, v15])
            T.writes(T16[v14, v15])
            T16[v14, v15] = R9[v14, v15]

    @R.function
    def main(x: R.Tensor((8, 16), dtype="float32"), y: R.Tensor((16, 16), dtype="float32")) -> R.Tensor((8, 16), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((8, 16), dtype="float32"))
        return a
