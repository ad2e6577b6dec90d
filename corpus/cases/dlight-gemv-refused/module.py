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
    def prim(A1: T.Buffer((T.int64(2), T.int64(2)), "float32"), W10: T.Buffer((T.int64(2), T.int64(1)), "float32"), R15: T.Buffer((T.int64(2), T.int64(1)), "float32")):
        # with T.sblock("root"):
        for i16, i17, i18 in T.grid(T.int64(2), T.int64(1), T.int64(2)):
            with T.sblock("mm11"):
                v12, v13, k14 = T.axis.remap("SSR", [i16, i17, i18])
                T.reads(A1[v12, k14], W10[k14, v13])
                T.writes(R15[v12, v13])
                with T.init():
                    R15[v12, v13] = T.float32(3.0)
                R15[v12, v13] = R15[v12, v13] + A1[v12, k14] * W10[k14, v13]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32"), y: R.Tensor((2, 1), dtype="float32")) -> R.Tensor((2, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((2, 1), dtype="float32"))
        return a
