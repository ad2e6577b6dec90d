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
    def prim(T14: T.Buffer((T.int64(1),), "bfloat16"), R18: T.Buffer((), "bfloat16")):
        # with T.sblock("root"):
        for i15 in range(T.int64(1)):
            with T.sblock("pad12"):
                v13 = T.axis.spatial(T.int64(1), i15)
                T.reads()
                T.writes(T14[v13])
                T14[v13] = T.bfloat16(1.0)
        with T.sblock("red16"):
            k17 = T.axis.reduce(T.int64(1), T.int64(0))
            T.reads(T14[k17])
            T.writes(R18[()])
            with T.init():
                R18[()] = T.bfloat16(-340282346638528859811704183484516925440.0)
            R18[()] = T14[k17]

    @R.function
    def main() -> R.Tuple(R.Tensor((1,), dtype="bfloat16"), R.Tensor((), dtype="bfloat16")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((1,), dtype="bfloat16"), R.Tensor((), dtype="bfloat16")])
        return a
