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
    def prim(A1: T.Buffer((1,), "bfloat16"), T3: T.Buffer((1,), "bfloat16")):
        T3[0] = T.reinterpret("bfloat16", T.reinterpret("uint16", T.max(A1[0], T.bfloat16(1.0))))

    @R.function
    def main(x: R.Tensor((1,), dtype="bfloat16")) -> R.Tensor((1,), dtype="bfloat16"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="bfloat16"))
        return a
