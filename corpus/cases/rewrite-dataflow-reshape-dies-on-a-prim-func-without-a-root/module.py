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
    def prim(V2: T.Buffer((T.int64(1),), "int32"), O4: T.Buffer((T.int64(1),), "int32")):
        O4[T.int64(0)] = V2[T.int64(0)] << 1 >> 1

    @R.function
    def main(x: R.Tensor((1,), dtype="int32"), y: R.Tensor((), dtype="int32")) -> R.Tensor((), dtype="int32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="int32"))
            R.output()
        return y
