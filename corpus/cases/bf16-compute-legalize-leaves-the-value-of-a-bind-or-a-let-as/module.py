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
    def dead_prim(T4: T.Buffer((1, 1), "bfloat16")):
        T13 = T.alloc_local((1,), "bfloat16")
        Y22 = T13.view(1, 1)
        x23: T.let[T.int32] = T.Select(T4[0, 0] == T.bfloat16(6.5), T.RShift(1, 0), T.Cast("int32", T13[0]))
