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
    def prim(A2: T.Buffer((1,), "float64"), T5: T.Buffer((1,), "float64")):
        # with T.sblock("root"):
        for i6 in range(1):
            with T.sblock("div3"):
                v4 = T.axis.spatial(1, i6)
                T.reads(A2[T.FloorDiv(1, 2)])
                T.writes(T5[v4])
                T5[v4] = A2[v4 // 2] - A2[T.FloorMod(0, 1)]

    @R.function
    def main(x: R.Tensor((1,), dtype="float64")) -> R.Tensor((1,), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="float64"))
        return a
