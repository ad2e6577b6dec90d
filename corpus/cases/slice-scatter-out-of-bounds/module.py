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
    def main(x: R.Tensor((64,), dtype="float32"), y: R.Tensor((1,), dtype="float32")) -> R.Tensor((64,), dtype="float32"):
        a: R.Tensor((64,), dtype="float32") = R.slice_scatter(x, y, 0, 1, 1, axis=0)
        return a
