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
    def prim1(W2: T.Buffer((T.int64(1), T.int64(1)), "int32"), R7: T.Buffer((T.int64(1), T.int64(1)), "int32"), R15: T.Buffer((T.int64(1), T.int64(1)), "int64")):
        # with T.sblock("root"):
        for i8, i9, i10 in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("mm3"):
                v4, v5, k6 = T.axis.remap("SSR", [i8, i9, i10])
                T.reads(W2[k6, v5])
                T.writes(R7[v4, v5])
                with T.init():
                    R7[v4, v5] = 0
                R7[v4, v5] = R7[v4, v5] + W2[k6, v5]
        for i16, i17, i18 in T.grid(T.int64(1), T.int64(1), T.int64(1)):
            with T.sblock("red11"):
                v12, v13, k14 = T.axis.remap("SSR", [i16, i17, i18])
                T.reads()
                T.writes(R15[v12, v13])
                with T.init():
                    R15[v12, v13] = T.int64(0)
                T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="int32")) -> R.Tuple(R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int64")):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=[R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int64")])
        return a
