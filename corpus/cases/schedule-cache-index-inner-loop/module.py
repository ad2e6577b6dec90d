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
    def prim(T11: T.Buffer((1, 1), "float32")):
        # with T.sblock("root"):
        for i12 in range(1):
            with T.sblock("copy8"):
                v9 = T.axis.spatial(1, i12)
                T.reads()
                T.writes(T11[v9, 0])
                T11[v9, 0] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
