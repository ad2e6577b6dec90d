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
    @R.function
    def call_main(x: R.Tensor((2,), dtype="int32")) -> R.Tensor((2,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.main, (x,), out_ty=R.Tensor((2,), dtype="int32"))
        return a

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
        for f in range(2):
            B[f] = A[f // 4 + (f - 1) // 4 + 1]
