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
    @R.function(private=True)
    def dead1(x: R.Tensor((9, 1, 1), dtype="float32")) -> R.Tensor((1, 3, 3), dtype="float32"):
        a: R.Tensor((1, 3, 3), dtype="float32") = R.nn.pixel_shuffle(x, upscale_factor=3)
        return a
