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
    @R.function
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1,), dtype="float32") = R.cumsum(x, axis=None, dtype=None, exclusive=True)
            b: R.Tensor((), dtype="float32") = R.mean(a, axis=None, keepdims=False)
            R.output(b)
        return b
