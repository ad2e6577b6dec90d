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
    def main(x: R.Tensor((1, 1, 2, 2), dtype="float32"), y: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((1, 1, 2, 2), dtype="float32"):
        a: R.Tensor((1, 1, 2, 2), dtype="float32") = R.nn.rms_norm(x, y, axes=[-2, 3], epsilon=1.0000000000000001e-05)
        return a
