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
    def main(x: R.Tensor((1, 2, 1, 2), dtype="float16"), y: R.Tensor((1, 1, 1, 2), dtype="float16")) -> R.Tensor((1, 1, 1, 2), dtype="float16"):
        a: R.Tensor((1, 1, 1, 2), dtype="float16") = R.image.grid_sample(y, x, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=False)
        return a
