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
    def prim(A: T.Buffer((T.int64(1),), "int32"), B: T.Buffer((T.int64(1),), "int32")):
        with T.sblock("root"):
            T.reads()
            T.writes()
            with T.sblock("B"):
                T.reads()
                T.writes(B[T.int64(0)])
                B[T.int64(0)] = T.popcount(1)

    @R.function
    def main(x: R.Tensor((1,), dtype="int32")) -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="int32"))
        return a
