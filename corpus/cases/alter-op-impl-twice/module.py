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
    def prim2(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), add: T.Buffer((16,), "float32")):
        T.func_attr({"operator_name": "passfuzz.add16"})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim2, (x, x), out_ty=R.Tensor((16,), dtype="float32"))
        return a
