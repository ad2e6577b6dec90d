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
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((2,), dtype="float32") = R.add(R.const(np.array([1.0, 2.0], "float32"), "float32"), R.const(np.array([3.0, 4.0], "float32"), "float32"))
            b: R.Tensor((2,), dtype="float32") = R.add(x, a)
            R.output(b)
        return b
