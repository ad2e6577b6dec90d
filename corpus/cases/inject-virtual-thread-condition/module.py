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
    def prim(A: T.Buffer((1,), "int32"), C: T.Buffer((16,), "int32")):
        for i in T.thread_binding(16, thread="vthread.x"):
            B = T.alloc_buffer((1,), "int32")
            B[0] = A[0]
            if i >= 1:
                B[0] = B[0] + 1
            C[i] = B[0]

    @R.function
    def main(x: R.Tensor((1,), dtype="int32")) -> R.Tensor((16,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((16,), dtype="int32"))
        return a
