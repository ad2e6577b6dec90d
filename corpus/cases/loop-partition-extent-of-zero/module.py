from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T18: T.Buffer((m,), "float16")):
        for i20 in range(m):
            T18[i20] = T.if_then_else(T.likely(i20 <= m - T.int64(2)), T.float16(1.0), T.float16(1.0))

    @R.function
    def main(x: R.Tensor((0,), dtype="float16")) -> R.Tensor((0,), dtype="float16"):
        cls = Module
        a: R.Tensor((0,), dtype="float16") = R.call_tir_inplace(cls.prim, (x,), out_ty=R.Tensor((0,), dtype="float16"), inplace_indices=[0])
        return a
