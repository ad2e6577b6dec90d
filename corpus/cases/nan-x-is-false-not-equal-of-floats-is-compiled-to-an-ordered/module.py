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
    def prim4(Z3: T.Buffer((1, 1), "float16"), N28: T.Buffer((1, 1), "bool")):
        N28[0, 0] = Z3[0, 0] != T.float16(0.0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float16")) -> R.Tensor((1, 1), dtype="bool"):
        cls = Module
        a = R.call_tir(cls.prim4, (x,), out_ty=R.Tensor((1, 1), dtype="bool"))
        return a
