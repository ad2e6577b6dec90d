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
    @T.prim_func(private=True)
    def prim3(O13: T.Buffer((1, 1), "uint8", layout=None)):
        x10: T.let[T.uint8] = T.uint8(1)
        O13[0, 0] = T.if_then_else(x10 != T.uint8(0), T.uint8(1), T.uint8(1))

    @R.function
    def main() -> R.Tensor((1, 1), dtype="uint8"):
        cls = Module
        a = R.call_tir(cls.prim3, R.tuple(), out_ty=R.Tensor((1, 1), dtype="uint8"))
        return a
