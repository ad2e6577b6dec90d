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
    def sub1() -> R.Tuple(R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"))):
        return ((R.const(1.0, "float32"), R.const(1.0, "float32")),)

    @R.function
    def main() -> R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32")):
        cls = Module
        with R.dataflow():
            a: R.Tuple(R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"))) = cls.sub1()
            b: R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32")) = a[0]
            c: R.Tensor((), dtype="float32") = b[1]
            d: R.Tensor((), dtype="float32") = R.add(c, c)
            R.output(a, b, d)
        return b
