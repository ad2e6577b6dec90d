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
    def prim(A1: T.Buffer((1, 1), "int64"), A3: T.Buffer((1,), "int64"), T6: T.Buffer((1,), "int64")):
        # with T.sblock("root"):
        for i7 in range(1):
            with T.sblock("map4"):
                T.reads(A1[0, 0], A3[0])
                T.writes(T6[0])
                T6[0] = A1[0, 0] >> (A3[0] & T.int64(1))

    @R.function
    def main(x: R.Tensor((1, 1), dtype="int64"), y: R.Tensor((1,), dtype="int64")) -> R.Tensor((1,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((1,), dtype="int64"))
        return a
