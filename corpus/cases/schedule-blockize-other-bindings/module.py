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
    def prim(T16: T.Buffer((T.int64(1), T.int64(1)), "int64")):
        # with T.sblock("root"):
        T10 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)), "int64")
        for i11, i12 in T.grid(T.int64(1), T.int64(1)):
            with T.sblock("reshape7"):
                v8, v9 = T.axis.remap("SS", [i11, i12])
                T.reads()
                T.writes(T10[v9, v8])
                T10[v9, v8] = T.int64(1)
        with T.sblock("pad13"):
            v14 = T.axis.spatial(T.int64(1), T.int64(0))
            v15 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T16[v14, v15])
            T16[v14, v15] = T.int64(1)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="int64"))
        return a
