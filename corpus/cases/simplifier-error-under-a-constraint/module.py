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
    def prim(O6: T.Buffer((T.int64(1), T.int64(1), T.int64(1)), "uint8")):
        O6[T.int64(0), T.int64(0), T.int64(0)] = T.if_then_else(T.Cast("uint8", T.int8(0) % T.int8(11)) < T.uint8(0), T.uint8(1), T.uint8(1)) + T.Cast("uint8", T.int8(0) % T.int8(11))

    @R.function
    def main() -> R.Tensor((1, 1, 1), dtype="uint8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1, 1), dtype="uint8"))
        return a
