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
    def prim(X: T.Buffer((2,), "int32"), Y: T.Buffer((8, 2), "int32")):
        for i, j in T.grid(8, 2):
            Y[i, j] = 0
        for i in range(5):
            for j in T.serial(2, annotations={"pragma_loop_partition_hint": 1}):
                Y[i, j] = Y[i, j] + T.if_then_else(T.likely(i <= j), X[j], 1)

    @R.function
    def main(x: R.Tensor((2,), dtype="int32")) -> R.Tensor((8, 2), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((8, 2), dtype="int32"))
        return a
