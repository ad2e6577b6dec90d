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
    def prim(A: T.Buffer((T.int64(2),), "float32"), B: T.Buffer((T.int64(2),), "float32")):
        for i in range(T.int64(2)):
            with T.sblock("B"):
                v = T.axis.spatial(T.int64(2), i)
                B[v] = T.Cast("float32", T.Select(A[v] < T.float32(0), T.bfloat16(1.5), T.bfloat16(2)))
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2,), dtype="float32"))
        return a
