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
    def sub1() -> R.Tuple(R.Tensor((1,), dtype="float32")):
        return (R.const(np.array([1.0], "float32"), "float32"),)

    @R.function
    def main() -> R.Tensor((1,), dtype="float32"):
        cls = Module
        with R.dataflow():
            a: R.Tuple(R.Tensor((1,), dtype="float32")) = cls.sub1()
            b: R.Tuple(R.Tensor((1,), dtype="float32")) = a
            R.output(b)
        c: R.Tensor((1,), dtype="float32") = R.concat(b, axis=0)
        return c
