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
    def prim(W9: T.Buffer((T.int64(4), T.int64(16)), "float32"), T6: T.Buffer((T.int64(4), T.int64(4)), "float32"), T28: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        # with T.sblock("root"):
        R14 = T.sblock_alloc_buffer((T.int64(4), T.int64(16)))
        for i15, i16, i17 in T.grid(T.int64(4), T.int64(16), T.int64(4)):
            with T.sblock("mm10"):
                v11, v12, k13 = T.axis.remap("SSR", [i15, i16, i17])
                T.reads(T6[v11, k13], W9[k13, v12])
                T.writes(R14[v11, v12])
                with T.init():
                    R14[v11, v12] = T.float32(1.0)
                R14[v11, v12] = R14[v11, v12] + T6[v11, k13] * W9[k13, v12]
        with T.sblock("tile18"):
            v19 = T.axis.spatial(T.int64(1), T.int64(0))
            v20 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T28[v19, T.int64(1):T.int64(3)])
            Q22 = T.match_buffer(R14[v19, T.int64(0):T.int64(2)], (T.int64(1), T.int64(2)), strides=("s23", "s24"), offset_factor=1)
            T28[v19, T.int64(0)] = T.float32(1.0)

    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 16), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((4, 16), dtype="float32"))
        return a
