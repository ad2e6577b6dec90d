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
    def main(x: R.Tensor((1, 4, 1), dtype="float32"), y: R.Tensor((4, 2, 2), dtype="float32")) -> R.Tensor((1, 4, 2), dtype="float32"):
        a: R.Tensor((1, 4, 2), dtype="float32") = R.nn.conv1d(x, y, strides=[1], padding=[0, 2], dilation=[1], groups=2, data_layout="NCW", kernel_layout="OIW", out_layout="NCW", out_dtype=None)
        return a
