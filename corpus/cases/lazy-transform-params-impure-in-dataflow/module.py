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
    def prim2(A: T.Buffer((1, 1), "float32"), affine: T.Buffer((1, 1), "float32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((), dtype="float32"), y: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((1, 1), dtype="float32"):
        R.func_attr({"num_input": 0})
        cls = Module
        a = R.call_tir(cls.prim2, (y,), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
