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
    def main() -> R.Tensor(dtype="float32", ndim=1):
        s2 = T.int64()
        with R.dataflow():
            a: R.Tensor((1,), dtype="int64") = R.add(R.const(np.array([1], "int64"), "int64"), R.const(np.array([1], "int64"), "int64"))
            b: R.Shape(ndim=1) = R.tensor_to_shape(a)
            c: R.Shape([s2]) = R.match_cast(b, R.Shape([s2]))
            d: R.Tensor((s2,), dtype="float32") = R.full(R.shape([s2]), R.const(1.0, "float32"), dtype=None)
            e: R.Tensor((s2,), dtype="float32") = R.square(d)
            R.output(e)
        return e
