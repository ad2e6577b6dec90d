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
    def prim(R4: T.Buffer((), "float32"), S10: T.Buffer((T.int64(2),), "float32")):
        # with T.sblock("root"):
        for i5 in range(T.int64(2)):
            with T.sblock("red2"):
                k3 = T.axis.reduce(T.int64(2), i5)
                T.reads()
                T.writes(R4[()])
                with T.init():
                    R4[()] = T.float32(1.0)
                T.evaluate(0)
        for i13 in range(T.int64(2)):
            with T.sblock("scan11"):
                o12 = T.axis.opaque(T.int64(2), i13)
                T.reads(S10[T.int64(0)])
                T.writes(S10[o12])
                S10[o12] = T.float32(1.0)

    @R.function
    def main() -> R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((2,), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((), dtype="float32"), R.Tensor((2,), dtype="float32")])
        return a
