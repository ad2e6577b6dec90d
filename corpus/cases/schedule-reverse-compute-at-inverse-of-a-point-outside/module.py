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
    def prim(A2: T.Buffer((1, 9), "float32"), R7: T.Buffer((1, 1), "float32")):
        # with T.sblock("root"):
        for i10 in range(2):
            with T.sblock("win3"):
                v4 = T.axis.spatial(1, 0)
                v5 = T.axis.spatial(1, 0)
                k6 = T.axis.reduce(2, i10)
                T.reads(A2[v4, v5 * 2 + k6])
                T.writes(R7[v4, v5])
                with T.init():
                    R7[v4, v5] = T.float32(1.0)
                R7[v4, v5] = A2[v4, v5 * 2 + k6]

    @R.function
    def main(x: R.Tensor((1, 9), dtype="float32")) -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
