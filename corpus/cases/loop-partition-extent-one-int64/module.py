from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((n,), "int32"), B: T.Buffer((n,), "int32")):
        for i in range(n):
            if i * T.int64(2) < n:
                if T.likely(i > T.int64(0)):
                    B[i] = A[i]
            else:
                B[i] = 7

    @R.function
    def main(x: R.Tensor((n,), dtype="int32")) -> R.Tensor((n,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((n,), dtype="int32"))
        return a
