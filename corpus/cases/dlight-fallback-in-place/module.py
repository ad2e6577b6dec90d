from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(A: T.Buffer((n, m), "float32"), B: T.Buffer((n, m), "float32")):
        # with T.sblock("root"):
        for i, j in T.grid(n, m):
            with T.sblock("add"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.spatial(m, j)
                T.reads(A[vi, vj])
                T.writes(A[vi, vj])
                A[vi, vj] = T.float32(1.0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a: R.Tensor((1, 1), dtype="float32") = R.call_tir_inplace(cls.prim2, (x, x), out_ty=R.Tensor((1, 1), dtype="float32"), inplace_indices=[0])
        return a

Module["prim2"] = laid_out(Module["prim2"], "A", "B")
Module["prim2"] = ranged(Module["prim2"], "int32")
