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
    def prim(T14: T.Buffer((T.int64(1), T.int64(2), T.int64(2)), "bfloat16"), R38: T.Buffer((T.int64(1), T.int64(2)), "bfloat16")):
        # with T.sblock("root"):
        for i15, i16, i17 in T.grid(T.int64(1), T.int64(2), T.int64(2)):
            with T.sblock("map10"):
                v11, v12, v13 = T.axis.remap("SSS", [i15, i16, i17])
                T.reads()
                T.writes(T14[v11, v12, v13])
                T14[v11, v12, v13] = T.bfloat16(1.0)
        for i41 in range(T.int64(2)):
            with T.sblock("red34"):
                v35 = T.axis.spatial(T.int64(1), T.int64(0))
                v36 = T.axis.spatial(T.int64(1), T.int64(0))
                k37 = T.axis.reduce(T.int64(2), i41)
                T.reads(T14[v35, k37, k37])
                T.writes(R38[v35, v36])
                with T.init():
                    R38[v35, v36] = T.bfloat16(0.0)
                R38[v35, v36] = T.min(T14[v35, k37, k37], T.bfloat16(2.0))

    @R.function
    def main() -> R.Tuple(R.Tensor((1, 2, 2), dtype="bfloat16"), R.Tensor((1, 2), dtype="bfloat16")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((1, 2, 2), dtype="bfloat16"), R.Tensor((1, 2), dtype="bfloat16")])
        return a
