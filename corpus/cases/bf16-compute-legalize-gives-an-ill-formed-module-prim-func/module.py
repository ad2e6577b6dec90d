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
    def unused(A2: T.Buffer((1, 1), "int32"), T3: T.Buffer((1, 1), "bfloat16")):
        x14 = T.int32()
        T3[0, 0] = T.Cast("bfloat16", T.Let(1, where={x14: A2[0, 0]}))
