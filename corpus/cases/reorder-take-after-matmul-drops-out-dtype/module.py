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
    def main(x: R.Tensor((1, 1), dtype="float16"), y: R.Tensor((1, 1), dtype="float16"), z: R.Tensor((1,), dtype="int64")) -> R.Tensor((1, 1), dtype="float32"):
        a: R.Tensor((1, 1), dtype="float16") = R.take(y, z, axis=1, mode="fast")
        b: R.Tensor((1, 1), dtype="float32") = R.matmul(x, a, out_dtype="float32")
        return b
