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
    def prim(T8: T.Buffer((T.int64(1), T.int64(1), T.int64(1)), "int64")):
        with T.attr(T.comm_reducer(lambda x1, x0, y1, y0: (1, T.Select(x0 > y0 or x0 == y0, x0, y0)), [100, -100]), "reduce_scope", 0):
            T.evaluate(0)
        T8[T.int64(0), T.int64(0), T.int64(0)] = T.int64(1)

    @R.function
    def main() -> R.Tensor((1, 1, 1), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1, 1), dtype="int64"))
        return a
