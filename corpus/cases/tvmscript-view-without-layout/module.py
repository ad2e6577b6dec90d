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
    def prim(S9: T.Buffer((2,), "float32")):
        S5 = T.alloc_shared((2,))
        S6 = T.alloc_buffer((2,), "int64", scope="shared.dyn")
        Y7 = S5.view(1, 1)
        S6[0] = T.Cast("int64", Y7[0, 0])
        S8 = T.alloc_shared((2,), "int32")
        S8[0] = 1
        S9[0] = T.float32(1.0)
        Y11 = S6.view(1, 1)

    @R.function
    def main() -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2,), dtype="float32"))
        return a

Module["prim"] = laid_out(Module["prim"], "S9")
