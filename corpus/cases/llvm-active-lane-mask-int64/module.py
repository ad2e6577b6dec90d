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
    def mask(A: T.Buffer((1,), "int64"), B: T.Buffer((4,), "bool")):
        B[0:4] = T.get_active_lane_mask("boolx4", A[0], T.int64(3))

    @R.function
    def main(x: R.Tensor((1,), dtype="int64")) -> R.Tensor((4,), dtype="bool"):
        cls = Module
        a = R.call_tir(cls.mask, (x,), out_ty=R.Tensor((4,), dtype="bool"))
        return a
