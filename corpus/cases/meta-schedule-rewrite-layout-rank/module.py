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
    def main(x: R.Tensor((1, 32), dtype="float32")) -> R.Tensor((1, 32), dtype="float32"):
        a: R.Tensor((1, 32), dtype="float32") = R.nn.group_norm(x, R.const(np.full(32, 1.0, "float32"), "float32"), R.const(np.full(32, 1.0, "float32"), "float32"), num_groups=16, channel_axis=-1, axes=[0], epsilon=1.0000000000000001e-05, center=True, scale=True)
        return a
