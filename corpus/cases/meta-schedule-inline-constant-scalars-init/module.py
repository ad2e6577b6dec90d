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
    def product(B: T.Buffer((1,), "float32")):
        # with T.sblock("root"):
        total = T.sblock_alloc_buffer(())
        with T.sblock("one"):
            T.reads()
            T.writes(total[()])
            total[()] = T.float32(1.0)
        with T.sblock("times"):
            i = T.axis.reduce(1, 0)
            T.reads(total[()])
            T.writes(total[()])
            total[()] = T.float32(1.0)
        B[0] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.product, R.tuple(), out_ty=R.Tensor((1,), dtype="float32"))
        return a
