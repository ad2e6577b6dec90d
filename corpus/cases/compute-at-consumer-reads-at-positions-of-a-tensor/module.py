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
    def main(x: R.Tensor((2, 1), dtype="float32"), y: R.Tensor((2,), dtype="int64")) -> R.Tensor((2, 1), dtype="float32"):
        a: R.Tensor((2, 1), dtype="float32") = R.grad.nll_loss_backward(R.const(1.0, "float32"), x, y, reduction="mean", ignore_index=-100)
        return a
