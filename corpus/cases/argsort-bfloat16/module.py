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
    def main() -> R.Tensor((2, 2), dtype="int32"):
        a: R.Tensor((2, 2), dtype="int32") = R.argsort(R.const(np.full((2, 2), 1.0, "float32").astype("bfloat16"), "bfloat16"), axis=-1, descending=False, dtype="int32")
        return a
