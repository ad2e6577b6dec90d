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
    def prim(A1: T.Buffer((16,), "float32"), R5: T.Buffer((), "int32"), R6: T.Buffer((), "float32")):
        # with T.sblock("root"):
        for i3 in range(2):
            for i2 in T.thread_binding(2, thread="threadIdx.x"):
                with T.sblock("red9"):
                    k4 = T.axis.reduce(16, i3 + i2)
                    T.reads()
                    T.writes(R5[()], R6[()])
                    with T.init():
                        R5[()] = -1
                        R6[()] = T.float32(340282346638528859811704183484516925440.0)
                    x7: T.let[T.int32] = T.Select(R6[()] < T.float32(1.0) or R6[()] == T.float32(1.0) and R5[()] < k4, R5[()], k4)
                    x8: T.let[T.float32] = T.Select(R6[()] < T.float32(1.0), R6[()], T.float32(1.0))
                    R5[()] = x7
                    R6[()] = x8

    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="int32"), R.Tensor((), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=[R.Tensor((), dtype="int32"), R.Tensor((), dtype="float32")])
        return a
