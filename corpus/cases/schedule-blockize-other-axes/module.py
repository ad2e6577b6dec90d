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
    def prim(T18: T.Buffer((1, 1, 1), "int8")):
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((1, 1), "int32")
        with T.sblock("update9"):
            v10 = T.axis.spatial(1, 0)
            v11 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(T6[v10, v11])
            T6[v10, v11] = 1
        with T.sblock("map14"):
            v15 = T.axis.spatial(1, 0)
            v16 = T.axis.spatial(1, 0)
            v17 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(T18[v15, v16, v17])
            T18[v15, v16, v17] = T.int8(1)

    @R.function
    def main() -> R.Tensor((1, 1, 1), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1, 1), dtype="int8"))
        return a
