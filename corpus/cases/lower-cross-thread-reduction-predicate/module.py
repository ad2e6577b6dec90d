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
    def prim(A3: T.Buffer((1, 1), "float32"), T13: T.Buffer((1,), "float32")):
        # with T.sblock("root"):
        R7 = T.sblock_alloc_buffer((1,), "int32")
        R8 = T.sblock_alloc_buffer((1,))
        for i2 in range(2):
            for i4 in T.thread_binding(1, thread="threadIdx.x"):
                with T.sblock("red11"):
                    v5 = T.axis.spatial(1, T.Add(0, i2))
                    k6 = T.axis.reduce(1, i4)
                    T.where(i2 < 1)
                    T.reads(A3[v5, k6])
                    T.writes(R7.source[v5], R8.source[v5])
                    with T.init():
                        R7 = -1
                        R8 = T.float32(340282346638528859811704183484516925440.0)
                    x9: T.let[T.int32] = T.Select(R8 < A3[v5, k6] or R8 == A3[v5, k6] and R7 < k6, R7, k6)
                    x10: T.let[T.float32] = T.Select(R8 < A3[v5, k6], R8, A3[v5, k6])
                    R8 = x10
                    R7 = x9
            T13[0] = T.float32(1.0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="float32"))
        return a
