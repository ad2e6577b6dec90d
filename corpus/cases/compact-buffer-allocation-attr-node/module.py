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
    def prim(T6: T.Buffer((1, 1), "float32")):
        for i2 in range(1):
            B4 = T.alloc_local((1,))
            with T.attr(B4.data, "double_buffer_scope", 1):
                T.evaluate(0)
            T6[i2, 0] = B4[0]

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
