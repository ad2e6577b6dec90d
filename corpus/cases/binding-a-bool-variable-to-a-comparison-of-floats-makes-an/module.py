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

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A1: T.Buffer((T.int64(1), T.int64(2)), "uint8")):
        x8: T.let[T.float64] = T.Cast("float64", A1[T.int64(0), T.int64(0)])
        for i10 in range(T.int64(3), T.int64(5)):
            if x8 * T.Cast("float64", i10) > x8:
                T.evaluate(0)
            if x8 * T.Cast("float64", i10) > x8:
                T.evaluate(0)
