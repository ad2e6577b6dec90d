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
    def prim(A: T.Buffer((3,), "float32"), C: T.Buffer((), "float32")):
        # with T.sblock("root"):
        for i in range(3):
            with T.sblock("r"):
                k = T.axis.reduce(3, i)
                T.reads(A[k])
                T.writes(C[()])
                with T.init():
                    C[()] = T.float32(0.0)
                C[()] = C[()] + A[k]

    @R.function
    def main(x: R.Tensor((3,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((), dtype="float32"))
        return a
