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
    def prim(A: T.Buffer((64,), "float32"), H: T.Buffer((64,), "float16"), C: T.Buffer((64,), "float16")):
        T.func_attr({"tirx.is_scheduled": True})
        for x in T.thread_binding(64, thread="threadIdx.x"):
            S = T.alloc_buffer((64,), scope="shared.dyn")
            S[x] = A[x]
            Q = T.alloc_buffer((64,), "float16", scope="shared.dyn")
            Q[x] = H[x]
            C[x] = Q[63 - x]

    @R.function
    def main(x: R.Tensor((64,), dtype="float32"), h: R.Tensor((64,), dtype="float16")) -> R.Tensor((64,), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x, h), out_ty=R.Tensor((64,), dtype="float16"))
        return a
