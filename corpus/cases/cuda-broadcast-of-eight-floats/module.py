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
    def prim(T26: T.Buffer((1, 1, 8), "int32")):
        # with T.sblock("root"):
        for i2 in T.thread_binding(2, thread="threadIdx.x"):
            with T.sblock("body31"):
                T.reads()
                T.writes(T26[0, 0, i2])
                S19 = T.sblock_alloc_buffer((8, 1, 8), scope="shared")
                for i17 in T.vectorized(8):
                    S19[i2, 0, i17] = T.float32(1.0)
                T26[0, 0, i2] = T.Select(S19[0, 0, 0] < T.float32(1.0), -4, 1)

    @R.function
    def main() -> R.Tensor((1, 1, 8), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1, 8), dtype="int32"))
        return a
