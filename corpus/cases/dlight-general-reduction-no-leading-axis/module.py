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
    def prim1(R20: T.Buffer((T.int64(2),), "bfloat16"), N28: T.Buffer((T.int64(2), T.int64(2), T.int64(2)), "float16")):
        # with T.sblock("root"):
        for i21, i22, i23 in T.grid(T.int64(2), T.int64(2), T.int64(2)):
            with T.sblock("red16"):
                k17, v18, k19 = T.axis.remap("RSR", [i21, i22, i23])
                T.reads()
                T.writes(R20[v18])
                with T.init():
                    R20[v18] = T.bfloat16(340282346638528859811704183484516925440.0)
                T.evaluate(0)
        for i29, i30, i31 in T.grid(T.int64(1), T.int64(1), T.int64(1)):
            with T.sblock("special24"):
                v25, v26, v27 = T.axis.remap("SSS", [i29, i30, i31])
                T.reads()
                T.writes(N28[v25, v26, v27])
                N28[v25, v26, v27] = T.float16(1.0)

    @R.function
    def main() -> R.Tuple(R.Tensor((2,), dtype="bfloat16"), R.Tensor((2, 2, 2), dtype="float16")):
        cls = Module
        a = R.call_tir(cls.prim1, R.tuple(), out_ty=[R.Tensor((2,), dtype="bfloat16"), R.Tensor((2, 2, 2), dtype="float16")])
        return a
