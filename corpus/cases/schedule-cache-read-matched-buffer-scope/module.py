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
    def prim(A3: T.Buffer((2, 12), "float32"), W5: T.Buffer((12, 8), "float32"), R10: T.Buffer((2, 8), "float32")):
        # with T.sblock("root"):
        for i11, i12, i13 in T.grid(2, 8, 12):
            with T.sblock("mm6"):
                v7, v8, k9 = T.axis.remap("SSR", [i11, i12, i13])
                T.reads(A3[v7, k9], W5[k9, v8])
                T.writes(R10[v7, v8])
                with T.init():
                    R10[v7, v8] = T.float32(0.0)
                R10[v7, v8] = R10[v7, v8] + A3[v7, k9] * W5[k9, v8]

    @R.function
    def main(x: R.Tensor((2, 12), dtype="float32"), y: R.Tensor((12, 8), dtype="float32")) -> R.Tensor((2, 8), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((2, 8), dtype="float32"))
        return a
