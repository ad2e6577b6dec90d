from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def sub1(x: R.Tensor((1, 1, 1), dtype="float32")) -> R.Tuple(R.Tensor((1, 1, 1), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 1, 1), dtype="float32") = R.add(x, x)
            R.output(a)
        return (a,)

    @R.function
    def main() -> R.Tuple(R.Tensor((1, 1, 1), dtype="float32")):
        cls = Module
        a: R.Tuple(R.Tensor((1, 1, 1), dtype="float32")) = cls.sub1(R.const(np.array([[[1.0]]], "float32"), "float32"))
        return a
