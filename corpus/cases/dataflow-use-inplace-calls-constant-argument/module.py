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
    def sub1(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((), dtype="float32") = R.maximum(x, x)
            b: R.Tensor((), dtype="float32") = R.multiply(R.const(1.0, "float32"), a)
            R.output(b)
        return (b,)

    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        cls = Module
        a: R.Tuple(R.Tensor((), dtype="float32")) = cls.sub1(x)
        return a
