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
    def prim1(A2: T.Buffer((1, 1), "float32", offset_factor=1), S6: T.Buffer((2,), "float32")):
        for i5 in T.thread_binding(1, thread="threadIdx.x"):
            S6[i5] = A2[0, 0]

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((2,), dtype="float32"))
        return a

Module["prim1"] = laid_out(Module["prim1"], "S6")
