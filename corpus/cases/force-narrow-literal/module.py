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
    def prim3(T6: T.Buffer((T.int64(1), T.int64(1)), "float16")):
        x15: T.let[T.int64] = T.int64(0)
        T6[x15 | T.int64(-8589934592), T.int64(0)] = T.float16(2.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim3, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float16"))
        return a
