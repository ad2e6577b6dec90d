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
    def prim(A2: T.Buffer((T.int64(0), T.int64(1)), "int32"), T16: T.Buffer((T.int64(0), T.int64(1)), "float32")):
        # with T.sblock("root"):
        T22 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)), "int32")
        for i23, i24 in T.grid(T.int64(1), T.int64(1)):
            with T.sblock("pad19"):
                v20, v21 = T.axis.remap("SS", [i23, i24])
                T.reads(A2[v20, v21])
                T.writes(T22[v20, v21])
                T22[v20, v21] = T.if_then_else(v20 < T.int64(0), A2[v20, v21], 0)

    @R.function
    def main(x: R.Tensor((0, 1), dtype="int32")) -> R.Tensor((0, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((0, 1), dtype="float32"))
        return a
