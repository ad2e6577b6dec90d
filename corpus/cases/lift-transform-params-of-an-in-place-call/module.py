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
    def main(x: R.Tensor((1,), dtype="float32"), y: R.Tensor((1,), dtype="float32"), z: R.Tensor((1, 1), dtype="float32")) -> R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((), dtype="float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a: R.Tensor((1,), dtype="float32") = R.matmul(y, z, out_dtype=None)
            b: R.Tensor((), dtype="float32") = R.matmul(x, a, out_dtype=None)
            c: R.Tensor((1,), dtype="float32") = R.add(a, a)
            d: R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((), dtype="float32")) = c, b
            R.output(d)
        return d
