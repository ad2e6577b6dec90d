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
    def prim(A2: T.Buffer((T.int64(9),), "float8_e4m3fn"), T3: T.Buffer((T.int64(9),), "float8_e4m3fn")):
        T3[T.int64(0)] = A2[T.int64(2)] + A2[T.int64(2)]

    @R.function
    def main(x: R.Tensor((9,), dtype="float8_e4m3fn")) -> R.Tensor((9,), dtype="float8_e4m3fn"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((9,), dtype="float8_e4m3fn"))
        return a
