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
    def prim(T2: T.Buffer((1, 1, 1), "int8")):
        for i19 in T.vectorized(2):
            T2[0, 0, i19] = T.Select(1 <= T.Cast("int32", T2[0, 0, i19]), T.int8(1), T.int8(1))
