from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True,s_tir=True)
    def ident(A: T.Buffer((4,),"float32"), B: T.Buffer((4,),"float32")):
        T.func_attr({"op_pattern":0})
        for i in range(4):
            with T.sblock("b"):
                v=T.axis.spatial(4,i)
                B[v]=A[v]
    @T.prim_func(private=True,s_tir=True)
    def fill(A: T.Buffer((4,),"float32"), b: T.handle):
        T.func_attr({"op_pattern":0})
        n=T.int64()
        B=T.match_buffer(b,(n,),"float32")
        for i in range(n):
            with T.sblock("b"):
                v=T.axis.spatial(n,i)
                B[v]=A[0]
    @R.function
    def main(x: R.Tensor((4,),"float32"), y: R.Tensor("float32",ndim=1)):
        cls = Module
        s1 = T.int64()
        with R.dataflow():
            a = R.call_tir(cls.ident, (x,), out_ty=R.Tensor((4,),"float32"))
            b = R.match_cast(y, R.Tensor((s1,),"float32"))
            d = R.call_tir(cls.fill, (a,), out_ty=R.Tensor((s1,),"float32"))
            R.output(d)
        return d
