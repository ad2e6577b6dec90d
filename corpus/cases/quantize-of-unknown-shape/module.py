from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def sub1(x: R.Shape([n])) -> R.Tuple(R.Tensor((n, 2), dtype="float32")):
        a: R.Tensor((n, 2), dtype="float32") = R.full(R.shape([n, 2]), R.const(1.0, "float32"), dtype=None)
        return (a,)

    @R.function
    def main(x: R.Tensor((), dtype="float32"), y: R.Tensor((2,), dtype="int32")) -> R.Tensor((1, 2), dtype="int8"):
        cls = Module
        a: R.Tuple(R.Tensor((1, 2), dtype="float32")) = cls.sub1(R.shape([1]))
        b: R.Tensor((1, 2), dtype="float32") = a[0]
        c: R.Tensor((1, 2), dtype="int8") = R.quantize(b, x, y, out_dtype="int8", axis=-1)
        return c
