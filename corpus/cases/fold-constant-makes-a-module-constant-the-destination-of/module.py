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
    def prim1(A: T.Buffer((T.int64(1), T.int64(1)), "float32"), B: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        A[T.int64(0), T.int64(0)] = T.Add(T.float32(1.0), T.float32(1.0))

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a: R.Tensor((1, 1), dtype="float32") = R.call_tir_inplace(cls.prim1, (x, x), out_ty=R.Tensor((1, 1), dtype="float32"), inplace_indices=[0])
        return x

Module["prim1"] = laid_out(Module["prim1"], "A", "B")
