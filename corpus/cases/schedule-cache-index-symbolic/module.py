from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T7: T.Buffer((n,), "float64")):
        # with T.sblock("root"):
        for i8 in range(n):
            with T.sblock("map5"):
                v6 = T.axis.spatial(n, i8)
                T.reads()
                T.writes(T7[v6])
                T7[v6] = T.Cast("float64", v6)

    @R.function
    def main() -> R.Tensor((1,), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="float64"))
        return a
