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
    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32"), y: R.Tensor((2, n), dtype="float32")) -> R.Tensor((2, n), dtype="float32"):
        a: R.Tensor((2, n), dtype="float32") = R.matmul(x, y, out_dtype=None)
        return a
