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
    def prim(N8: T.Buffer((1,), "float64")):
        # with T.sblock("root"):
        with T.sblock("special6"):
            v7 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(N8[v7])
            N8[v7] = T.float64(1.0)

    @R.function
    def main() -> R.Tensor((1,), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="float64"))
        return a
