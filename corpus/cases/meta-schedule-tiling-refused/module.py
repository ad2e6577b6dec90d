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
    def prim(W13: T.Buffer((T.int64(1), T.int64(1)), "float32"), S3: T.Buffer((T.int64(2),), "int32"), S7: T.Buffer((T.int64(2),), "int32"), R18: T.Buffer((T.int64(2), T.int64(1)), "float64")):
        # with T.sblock("root"):
        with T.sblock("scan8"):
            o9 = T.axis.opaque(T.int64(1), T.int64(0))
            T.reads(S7[T.int64(0)], S3[o9])
            T.writes(S7[o9])
            S7[o9] = S3[o9]
        with T.sblock("whole12"):
            T.reads()
            T.writes(S3[T.int64(0):T.int64(2)])
            S3[T.int64(0)] = T.LShift(1, 3)
        for i19, i20, i21 in T.grid(T.int64(2), T.int64(1), T.int64(1)):
            with T.sblock("mm14"):
                v15, v16, k17 = T.axis.remap("SSR", [i19, i20, i21])
                T.reads(W13[k17, v16])
                T.writes(R18[v15, v16])
                R18[v15, v16] = T.Cast("float64", W13[k17, v16])

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32"), y: R.Tensor((2,), dtype="int32")) -> R.Tuple(R.Tensor((2,), dtype="int32"), R.Tensor((2, 1), dtype="float64")):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=[R.Tensor((2,), dtype="int32"), R.Tensor((2, 1), dtype="float64")])
        return a
