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
    def prim2(T24: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        R18 = T.sblock_alloc_buffer((1,), "int32", scope="local")
        with T.sblock("red14"):
            T.reads()
            T.writes(R18[0])
            with T.init():
                R18[0] = -2147483648
            T.evaluate(0)
        with T.sblock("both22"):
            T.reads(R18[0])
            T.writes(T24[0])
            T24[0] = R18[0]

    @R.function
    def main() -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim2, R.tuple(), out_ty=R.Tensor((1,), dtype="int32"))
        return a
