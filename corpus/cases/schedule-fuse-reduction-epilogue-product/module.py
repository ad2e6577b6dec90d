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
    def prim(A: T.Buffer((2,), "float32"), V: T.Buffer((), "float32"), C: T.Buffer((), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer(())
        for i in range(2):
            with T.sblock("r"):
                k = T.axis.reduce(2, i)
                T.reads(A[k])
                T.writes(B[()])
                with T.init():
                    B[()] = T.float32(1.0)
                B[()] = B[()] * A[k]
        with T.sblock("bias"):
            T.reads(B[()], V[()])
            T.writes(C[()])
            C[()] = B[()] + V[()]

    @R.function
    def main(x: R.Tensor((2,), dtype="float32"), y: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((), dtype="float32"))
        return a
