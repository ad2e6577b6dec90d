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
    def prim(T6: T.Buffer((T.int64(2), T.int64(2), T.int64(2)), "int16")):
        T6[T.int64(0), T.int64(0), T.int64(0)] = T.int16(1)
        T12 = T.alloc_buffer((T.int64(2), T.int64(2), T.int64(2)), "int16")
        for i13, i14, i15 in T.grid(T.int64(2), T.int64(2), T.int64(2)):
            T12[i13, i14, i15] = T.int16(1)
        T16 = T.alloc_buffer((T.int64(2),), "float64")
        T16[T.int64(0)] = T.float64(-3.0)
        Y18 = T.decl_buffer((T.int64(2),), "float64", data=T.tvm_access_ptr(T.float64(1.0), T16.data, T.int64(0), T.int64(2), 3))

    @R.function
    def main() -> R.Tensor((2, 2, 2), dtype="int16"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2, 2, 2), dtype="int16"))
        return a
