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
    def main(x: R.Tensor((4,), dtype="bfloat16")) -> R.Tensor((4,), dtype="int32"):
        y: R.Tensor((4,), dtype="int32") = R.argsort(x, axis=-1, descending=False, dtype="int32")
        return y
