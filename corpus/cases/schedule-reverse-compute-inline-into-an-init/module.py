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
    def prim(D: T.Buffer((1,), "float32")):
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((1,))
        with T.sblock("matmul"):
            v = T.axis.spatial(1, 0)
            T.reads()
            T.writes(C[v])
            with T.init():
                C[v] = T.float32(0.0)
            C[v] = C[v]
        with T.sblock("bias"):
            i = T.axis.spatial(1, 0)
            T.reads(C[i])
            T.writes(D[i])
            D[i] = C[i] + T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="float32"))
        return a
