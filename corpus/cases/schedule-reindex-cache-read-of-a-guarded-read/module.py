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
    def prim(A: T.Buffer((8,), "int64"), B: T.Buffer((9,), "int64")):
        # with T.sblock("root"):
        for i in range(9):
            with T.sblock("pad"):
                v = T.axis.spatial(9, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = T.if_then_else(v < 8, A[v], T.int64(0))

    @R.function
    def main(x: R.Tensor((8,), dtype="int64")) -> R.Tensor((9,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((9,), dtype="int64"))
        return a
