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
    def prim(T14: T.Buffer((T.int64(1), T.int64(6)), "int16")):
        T.func_attr({"op_pattern": 1})
        T9 = T.alloc_buffer((T.int64(1), T.int64(6)), "int16")
        for i11 in range(T.int64(6)):
            T9[T.int64(0), i11] = T.if_then_else(i11 < T.int64(1), T.int16(1), T.int16(0))
        for i12, i13 in T.grid(T.int64(1), T.int64(6)):
            T.assume(i13 < T.int64(1) or T9[i12, i13] == T.int16(0))
        for i15, i16 in T.grid(T.int64(1), T.int64(6)):
            T14[i15, i16] = T.if_then_else(T.int64(1) <= i16, T.int16(-1), T9[i15, T.int64(0)] - T.int16(1))

    @R.function
    def main() -> R.Tensor((1, 6), dtype="int16"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 6), dtype="int16"))
        return a
