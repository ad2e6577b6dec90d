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
    def main(x: R.Tensor((1, 1, 1, 1), dtype="float16"), y: R.Tensor((1, 5), dtype="float16")) -> R.Tensor((1, 1, 2, 2), dtype="float16"):
        a: R.Tensor((1, 1, 2, 2), dtype="float16") = R.vision.roi_align(x, y, pooled_size=[2, 2], spatial_scale=0.25, sample_ratio=-1, aligned=False, layout="NCHW", mode="avg")
        return a
