from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Shape(ndim=2)) -> R.Shape(ndim=2):
        s1 = T.int64()
        with R.dataflow():
            a: R.Shape([1, s1]) = R.match_cast(x, R.Shape([1, s1]))
            b: R.Tensor((1, s1), dtype="float32") = R.full(R.shape([1, s1]), R.const(1.0, "float32"), dtype=None)
            R.output(a, b)
        return a
