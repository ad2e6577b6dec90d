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
    def main(x: R.Tensor((2, 2, 2, 2), dtype="float32"), y: R.Tensor((1, 2, 1, 2), dtype="float32")) -> R.Tensor((2, 1, 1, 2), dtype="float32"):
        a: R.Tensor((2, 1, 1, 2), dtype="float32") = R.nn.conv2d(x, y, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCWH", kernel_layout="OIHW", out_layout="NCWH", out_dtype=None)
        return a
