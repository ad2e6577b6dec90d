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
    def main(C: T.Buffer((3,), "int32"), n: T.int32):
        x = T.int32()
        C[0] = T.Let(x + n * n, where={x: 1})
        C[1] = n * n
        C[2] = n * n
