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
    def prim(C: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((1, 1), "int32")
        for i in range(1):
            for j in range(1):
                with T.sblock("b"):
                    v, w = T.axis.remap("SS", [i, j])
                    T.reads()
                    T.writes(B[v, w])
                    B[v, w] = 1
            C[i] = 1234567

    @R.function
    def main() -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="int32"))
        return a
