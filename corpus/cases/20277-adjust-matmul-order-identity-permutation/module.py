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
    def main(a: R.Tensor((1, 2), dtype="float32"), b: R.Tensor((2, 2), dtype="float32"), c: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((1, 2), dtype="float32"):
        with R.dataflow():
            d: R.Tensor((2, 2), dtype="float32") = R.matmul(b, c, out_dtype=None)
            e: R.Tensor((2, 2), dtype="float32") = R.permute_dims(d, axes=[0, 1])
            f: R.Tensor((1, 2), dtype="float32") = R.matmul(a, e, out_dtype=None)
            R.output(f)
        return f
