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
    def main(x: R.Tensor((4,), dtype="float32"), a: R.Tensor((4, 5), dtype="float32"), b: R.Tensor((4, 5), dtype="float32")) -> R.Tuple(R.Tensor((5,), dtype="float32"), R.Tensor((5,), dtype="float32")):
        with R.dataflow():
            c: R.Tensor((5,), dtype="float32") = R.matmul(x, a, out_dtype=None)
            d: R.Tensor((5,), dtype="float32") = R.matmul(x, b, out_dtype=None)
            R.output(c, d)
        return (c, d)
