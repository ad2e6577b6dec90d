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
    def prim(R11: T.Buffer((2,), "float32"), R16: T.Buffer((), "float16")):
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((4,))
        for i7 in range(4):
            with T.sblock("map4"):
                v5 = T.axis.spatial(4, i7)
                T.reads()
                T.writes(T6[v5])
                T6[v5] = T.float32(1.0)
        for i12, i13 in T.grid(2, 2):
            with T.sblock("win8"):
                v9, k10 = T.axis.remap("SR", [i12, i13])
                T.reads(T6[v9 + k10])
                T.writes(R11[v9])
                R11[v9] = T6[v9 + k10]
        for i17 in range(2):
            with T.sblock("red14"):
                k15 = T.axis.reduce(2, i17)
                T.reads()
                T.writes(R16[()])
                with T.init():
                    R16[()] = T.float16(2.0)
                R16[()] = R16[()] + T.float16(1.0)

    @R.function
    def main() -> R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((), dtype="float16")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((2,), dtype="float32"), R.Tensor((), dtype="float16")])
        return a
