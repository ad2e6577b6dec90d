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
    def prim(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        for i1 in T.thread_binding(1, thread="blockIdx.x"):
            for i2 in T.thread_binding(8, thread="threadIdx.x"):
                S1 = T.alloc_buffer((1,), scope="shared.dyn")
                S2 = T.alloc_buffer((8,), scope="shared.dyn")
                if i2 == 0:
                    S1[0] = A[0]
                S2[i2] = A[i2]
                C[i2] = S1[0] + S2[7 - i2]

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((8,), dtype="float32"))
        return a
