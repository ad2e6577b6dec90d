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

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32"), y: R.Tensor((1, 1), dtype="float32"), z: R.Tensor((1, m), dtype="float32")) -> R.Tuple(R.Tensor((1, 1), dtype="float32"), R.Tensor((1, m), dtype="float32")):
        with R.dataflow():
            a: R.Tensor((1, 1), dtype="float32") = R.matmul(x, y, out_dtype=None)
            b: R.Tensor((1, m), dtype="float32") = R.matmul(x, z, out_dtype=None)
            R.output(a, b)
        return (a, b)
