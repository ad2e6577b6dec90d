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
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2,), "int32")):
        for i in range(2):
            x = T.int32()
            y = T.int32()
            A[i] = T.Let(T.if_then_else(y < i, 1, 2), where={y: T.Let(6, where={x: i})})
