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
    def prim(T19: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T19[T.int64(0), T.int64(0)] = T.Select(T.popcount(T.int64(1)) != T.int64(1), T.float32(1.0), T.float32(-340282346638528859811704183484516925440.0))

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
