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
    def main(x: R.Shape(ndim=1)) -> R.Tensor(dtype="float32", ndim=0):
        a: R.Shape([]) = R.match_cast(x, R.Shape([]))
        b: R.Tensor(a, dtype="float32") = R.full(a, R.const(1.0, "float32"), dtype=None)
        return b
