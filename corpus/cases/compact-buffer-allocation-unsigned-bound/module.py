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
    def prim4(O7: T.Buffer((1, 1), "uint8")):
        x4: T.let[T.uint8] = T.uint8(1)
        O7[0, 0] = T.if_then_else(x4 > T.uint8(16), T.uint8(1), x4)
