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
    def prim(V1: T.Buffer((T.int64(8),), "int8"), O14: T.Buffer((T.int64(64),), "uint32")):
        for i9 in range(T.int64(5), T.int64(7)):
            for i10 in range(T.int64(5), T.int64(9)):
                if V1[(i10 * T.int64(2) // T.int64(2) * T.int64(2) + i9 % T.int64(2)) % T.int64(8)] < T.int8(2):
                    O14[i10] = T.uint32(1)
                else:
                    T.evaluate(0)

    @R.function
    def main(x: R.Tensor((8,), dtype="int8")) -> R.Tensor((64,), dtype="uint32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((64,), dtype="uint32"))
        return a
