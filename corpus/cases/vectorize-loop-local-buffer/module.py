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
    def prim(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        for i in T.vectorized(4):
            B = T.alloc_buffer((1,))
            B[0] = A[i]
            C[i] = B[0]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        return a
