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

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((m,), dtype="float32"), y: R.Tensor((m,), dtype="float32")) -> R.Tensor(dtype="float32", ndim=1):
        if m * 2 <= 1:
            b: R.Tensor((m,), dtype="float32") = R.square(x)
            a: R.Tensor(dtype="float32", ndim=1) = b
        else:
            a: R.Tensor(dtype="float32", ndim=1) = y
        return a
