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
    def main(x: R.Tensor((4, 1, 3), dtype="float32"), y: R.Tensor((4, 1), dtype="float32")) -> R.Tensor((4, 1, 3), dtype="float64"):
        a: R.Tensor((4, 1, 3), dtype="float32") = R.nn.layer_norm(x, y, y, axes=[0, 1], epsilon=1.0000000000000001e-05, center=True, scale=True)
        b: R.Tensor((4, 1, 3), dtype="float64") = R.astype(a, dtype="float64")
        c: R.Tensor((12,), dtype="float64") = R.reshape(b, R.shape([12]))
        return b
