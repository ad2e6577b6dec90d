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
    def prim1(m: T.int64, T5: T.Buffer((m,), "int64")):
        T.evaluate(0)

    @R.function
    def main() -> R.Tensor((1,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim1, (2,), out_ty=R.Tensor((1,), dtype="int64"))
        return a
