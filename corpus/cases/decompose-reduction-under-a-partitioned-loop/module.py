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
    def prim(R9: T.Buffer((T.int64(1), T.int64(4)), "float64")):
        # with T.sblock("root"):
        for i10, i11, i12 in T.grid(T.int64(1), T.int64(4), T.int64(2)):
            with T.sblock("mm5"):
                v7, k8 = T.axis.remap("SR", [i11, i12])
                T.reads()
                T.writes(R9[T.int64(0), v7])
                with T.init():
                    R9[T.int64(0), v7] = T.float64(0.0)
                R9[T.int64(0), v7] = R9[T.int64(0), v7] + T.float64(1.0)

    @R.function
    def main() -> R.Tensor((1, 4), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 4), dtype="float64"))
        return a
