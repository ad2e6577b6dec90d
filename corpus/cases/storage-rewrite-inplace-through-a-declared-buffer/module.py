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
    def prim(O: T.Buffer((2,), "int64")):
        A = T.alloc_buffer((2,), "int64")
        B = T.alloc_buffer((2,), "int64")
        A[0] = T.int64(1)
        Y = T.decl_buffer((2,), "int64", data=A.data)
        for i in range(2):
            B[i] = Y[0] - T.int64(1)
        O[0] = B[1]

    @R.function
    def main() -> R.Tensor((2,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2,), dtype="int64"))
        return a
