from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, n, 1), dtype="int64")) -> R.Tensor((2, "n + 2", 3), dtype="int64"):
        a: R.Tensor((2, n + 2, 3), dtype="int64") = R.nn.pad(x, pad_width=[0, 0, 2, 0, 2, 0], pad_value=0.0, pad_mode="constant")
        return a
