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
    def dead_prim(A1: T.Buffer((T.int64(9), T.int64(3)), "bfloat16"), A2: T.Buffer((T.int64(9),), "bfloat16"), R11: T.Buffer((), "bfloat16"), T16: T.Buffer((T.int64(9), T.int64(1)), "bfloat16"), T6: T.Buffer((T.int64(11), T.int64(3)), "bfloat16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i12 in range(T.int64(9)):
            with T.sblock("red9"):
                k10 = T.axis.reduce(T.int64(9), i12)
                T.reads(A2[T.Sub(T.int64(9), T.int64(1)) - k10])
                T.writes(R11[()])
                with T.init():
                    R11[()] = T.bfloat16(3.0)
                R11[()] = T.max(R11[()], A2[T.Sub(T.int64(9), T.int64(1)) - k10])

    @R.function
    def main(v7: R.Tensor((), dtype="bool")) -> R.Tensor((), dtype="bool"):
        return v7
