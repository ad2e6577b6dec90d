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
    def prim2(V1: T.Buffer((T.int64(2),), "int8"), O10: T.Buffer((T.int64(2), T.int64(2)), "bool")):
        for i7 in range(T.int64(1), T.int64(3)):
            O10[T.int64(0), T.int64(0)] = T.int16(1) <= T.Cast("int16", V1[i7 // T.int64(-1) % T.int64(2)])

    @R.function
    def main(x: R.Tensor((2,), dtype="int8")) -> R.Tensor((2, 2), dtype="bool"):
        cls = Module
        a = R.call_tir(cls.prim2, (x,), out_ty=R.Tensor((2, 2), dtype="bool"))
        return a
