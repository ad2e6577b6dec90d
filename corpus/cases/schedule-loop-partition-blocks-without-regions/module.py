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
    def prim(S18: T.Buffer((7,), "float32")):
        # with T.sblock("root"):
        T7 = T.sblock_alloc_buffer((7,))
        for i8 in range(7):
            with T.sblock("map5"):
                v6 = T.axis.spatial(7, i8)
                T.reads()
                T.writes(T7[v6])
                T7[v6] = T.float32(1.0)
        with T.sblock("scan19"):
            o20 = T.axis.opaque(1, 0)
            T.reads(S18[0], T7[o20])
            T.writes(S18[o20])
            S18[o20] = T7[o20]

    @R.function
    def main() -> R.Tensor((7,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((7,), dtype="float32"))
        return a
