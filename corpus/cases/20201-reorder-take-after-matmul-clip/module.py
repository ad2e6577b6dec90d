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
    def main(x: R.Tensor((1, 2), dtype="float32"), w: R.Tensor((2, 3), dtype="float32"), i: R.Tensor((2,), dtype="int64")) -> R.Tensor((1, 2), dtype="float32"):
        with R.dataflow():
            t: R.Tensor((2, 2), dtype="float32") = R.take(w, i, axis=1, mode="clip")
            f: R.Tensor((1, 2), dtype="float32") = R.matmul(x, t, out_dtype=None)
            R.output(f)
        return f
