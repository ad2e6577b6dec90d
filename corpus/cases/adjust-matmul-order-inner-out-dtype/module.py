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
    def main(x: R.Tensor((2,), dtype="float32"), y: R.Tensor((1, 2), dtype="float32")) -> R.Tensor((), dtype="float64"):
        a: R.Tensor((1,), dtype="float64") = R.matmul(y, x, out_dtype="float64")
        b: R.Tensor((), dtype="float64") = R.matmul(a, R.const(np.array([1.0], "float64"), "float64"), out_dtype=None)
        return b
