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
    def main(x: R.Tensor((1,), dtype="float32"), y: R.Tensor((1, 1), dtype="float32"), z: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        a: R.Tensor((1,), dtype="float32") = R.matmul(x, y, out_dtype=None)
        b: R.Tensor((), dtype="float32") = R.max(a, axis=None, keepdims=False)
        c: R.Tensor((1, 1), dtype="float32") = R.minimum(z, b)
        d: R.Tensor((1,), dtype="float32") = R.matmul(x, c, out_dtype=None)
        return d
