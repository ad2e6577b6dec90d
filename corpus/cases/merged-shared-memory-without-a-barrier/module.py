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
    def prim(S8: T.Buffer((2,), "float32")):
        for i2 in T.thread_binding(2, thread="threadIdx.x"):
            S5 = T.alloc_shared((2,))
            S5[i2] = T.float32(1.0)
            S6 = T.alloc_buffer((2,))
            S6[i2] = S5[0]
            S7 = T.alloc_shared((2,), "int32")
            S7[i2] = 1
            S8[i2] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2,), dtype="float32"))
        return a
