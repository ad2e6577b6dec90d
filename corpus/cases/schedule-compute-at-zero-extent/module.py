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
    def prim(T6: T.Buffer((T.int64(0),), "int8")):
        # with T.sblock("root"):
        for i7 in range(T.int64(0)):
            with T.sblock("map4"):
                v5 = T.axis.spatial(T.int64(0), i7)
                T.reads()
                T.writes(T6[v5])
                T6[v5] = T.int8(1)

    @R.function
    def main() -> R.Tensor((0,), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((0,), dtype="int8"))
        return a
