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
    def main(p14: R.Tensor((1, 1), dtype="float32"), p16: R.Tensor((1,), dtype="int64")) -> R.Tensor((1, 1), dtype="float32"):
        v19: R.Tensor((1, 1), dtype="float32") = R.index_tensor(p14, (p16,))
        return v19
