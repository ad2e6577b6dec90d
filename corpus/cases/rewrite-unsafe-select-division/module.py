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
    def prim(T20: T.Buffer((T.int64(2), T.int64(2)), "int64")):
        for i21, i22 in T.grid(T.int64(2), T.int64(2)):
            T20[i21, i22] = T.Select(i22 != T.int64(1), T.int64(1), T.Div(i21, T.max(i22, T.int64(1))))

    @R.function
    def main() -> R.Tensor((2, 2), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2, 2), dtype="int64"))
        return a
