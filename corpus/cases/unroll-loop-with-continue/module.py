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
    def prim(A: T.Buffer((2, 2), "int32"), B: T.Buffer((2,), "int32")):
        for o, i in T.grid(2, 2):
            if A[o, i] > 0:
                T.continue_loop()
            B[o] = 1

    @R.function
    def main(x: R.Tensor((2, 2), dtype="int32")) -> R.Tensor((2,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2,), dtype="int32"))
        return a
