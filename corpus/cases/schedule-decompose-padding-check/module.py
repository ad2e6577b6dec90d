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
    def prim(A1: T.Buffer((T.int64(2), T.int64(2)), "bool"), T11: T.Buffer((T.int64(2), T.int64(2)), "bool")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((T.int64(2), T.int64(2)), "bool")
        with T.sblock("copy2"):
            T.reads(A1[T.int64(0), T.int64(0)])
            T.writes(T5[T.int64(0), T.int64(0)])
            T5[T.int64(0), T.int64(0)] = A1[T.int64(0), T.int64(0)]
        for i12, i13 in T.grid(T.int64(1), T.int64(2)):
            with T.sblock("map8"):
                v10 = T.axis.spatial(T.int64(2), i13)
                T.reads(T5[T.int64(0), T.int64(0)])
                T.writes(T11[T.int64(0), v10])
                T11[T.int64(0), v10] = T5[T.int64(0), T.int64(0)]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="bool")) -> R.Tensor((2, 2), dtype="bool"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 2), dtype="bool"))
        return a
