from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A1: T.Buffer((T.int64(1), n), "uint8"), T2: T.Buffer((T.int64(1), n), "uint8"), T15: T.Buffer((T.int64(6),), "uint8")):
        for i3, i4 in T.grid(T.int64(1), n):
            T2[i3, i4] = A1[i3, i4] % T.max(T.Cast("uint8", i3), T.uint8(1))
        Y17 = T15.partition(num_tiles=(T.int64(3),))

    @R.function
    def main(A1: R.Tensor((1, 2), dtype="uint8")) -> R.Tuple(R.Tensor((1, 2), dtype="uint8"), R.Tensor((6,), dtype="uint8")):
        cls = Module
        lv = R.call_tir(cls.prim, (A1,), out_ty=[R.Tensor((1, 2), dtype="uint8"), R.Tensor((6,), dtype="uint8")])
        return lv
