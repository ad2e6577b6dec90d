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
    def prim3(A: T.Buffer((18,), "float32"), B: T.Buffer((18,), "float32"), plus: T.Buffer((18,), "float32")):
        T.func_attr({"operator_name": "passfuzz.padded"})
        # with T.sblock("root"):
        for i0 in range(18):
            with T.sblock("plus"):
                v_i0 = T.axis.spatial(18, i0)
                T.reads(A[v_i0], B[v_i0])
                T.writes(plus[v_i0])
                plus[v_i0] = A[v_i0] + B[v_i0]

    @T.prim_func(private=True, s_tir=True)
    def prim4(A: T.Buffer((7,), "int32"), B: T.Buffer((7,), "int32"), plus: T.Buffer((7,), "int32")):
        T.func_attr({"operator_name": "passfuzz.padded_integers"})
        # with T.sblock("root"):
        for i0 in range(7):
            with T.sblock("plus"):
                v_i0 = T.axis.spatial(7, i0)
                T.reads(A[v_i0], B[v_i0])
                T.writes(plus[v_i0])
                plus[v_i0] = A[v_i0] + B[v_i0]

    @R.function
    def main(x: R.Tensor((7,), dtype="int32"), y: R.Tensor((18,), dtype="float32")) -> R.Tuple(R.Tensor((18,), dtype="float32"), R.Tensor((7,), dtype="int32")):
        cls = Module
        a = R.call_tir(cls.prim3, (y, y), out_ty=R.Tensor((18,), dtype="float32"))
        b = R.call_tir(cls.prim4, (x, x), out_ty=R.Tensor((7,), dtype="int32"))
        return (a, b)
