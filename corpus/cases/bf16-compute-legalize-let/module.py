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
    def main(A: T.Buffer((2,), "bfloat16"), C: T.Buffer((1,), "bfloat16")):
        x = T.bfloat16()
        C[0] = T.Let(x * x, where={x: A[0] + A[1]})
