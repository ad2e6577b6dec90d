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
    def prim1(A: T.Buffer((1,), "float32"), add: T.Buffer((1,), "float32")):
        T.evaluate(0)

    @R.function
    def main(v7: R.Tensor((1,), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        cls = Module
        with R.dataflow():
            v8 = R.call_tir(cls.prim1, (v7,), out_ty=R.Tensor((1,), dtype="float32"))
            v9: R.Tensor((1,), dtype="float32") = R.add(v8, v8)
            R.output(v9)
        return v9
