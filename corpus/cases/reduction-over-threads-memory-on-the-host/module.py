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
    def total(A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32")):
        T.func_attr({"tirx.is_scheduled": True})
        # with T.sblock("root"):
        for i in range(2):
            for x in T.thread_binding(2, thread="threadIdx.x"):
                with T.sblock("sum"):
                    k = T.axis.reduce(4, i * 2 + x)
                    T.reads(A[k])
                    T.writes(B[()])
                    with T.init():
                        B[()] = T.float32(0.0)
                    B[()] = B[()] + A[k]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.total, (x,), out_ty=R.Tensor((), dtype="float32"))
        return a
