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
    def prim():
        T7 = T.alloc_local((T.int64(4), T.int64(5)), "int64")
        T7[T.int64(0), T.int64(0)] = T.Max(T.Cast("int64", T.Mod(1, 1)), T.int64(1) >> T.BitwiseAnd(T.int64(0), T.int64(3)))
