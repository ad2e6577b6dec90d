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
    def main(x: R.Tensor((1,), dtype="float64"), y: R.Tensor((), dtype="float64")) -> R.Tensor((), dtype="float64"):
        with R.dataflow():
            a: R.Tensor((), dtype="float64") = R.matmul(x, x, out_dtype=None)
            b: R.Tensor((), dtype="float64") = R.add(a, y)
            R.output(b)
        return b
