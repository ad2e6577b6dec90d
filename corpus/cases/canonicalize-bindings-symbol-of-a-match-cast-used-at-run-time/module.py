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
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="int64", ndim=1)):
        s0 = T.int64()
        a: R.Tensor((s0,), dtype="float32") = R.match_cast(x, R.Tensor((s0,), dtype="float32"))
        b: R.Tensor((s0,), dtype="float32") = R.reshape(a, R.shape([s0]))
        c: R.Tensor((s0 // 2 + 1,), dtype="int64") = R.full(R.shape([s0 // 2 + 1]), R.const(1, "int64"), dtype=None)
        return (b, c)
