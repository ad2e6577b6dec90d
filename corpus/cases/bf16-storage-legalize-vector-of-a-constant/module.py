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
    def ones(A: T.Buffer((2,), "bfloat16")):
        for i in T.vectorized(2):
            A[i] = T.bfloat16(1.0)

    @R.function
    def main() -> R.Tensor((2,), dtype="bfloat16"):
        cls = Module
        a = R.call_tir(cls.ones, R.tuple(), out_ty=R.Tensor((2,), dtype="bfloat16"))
        return a
