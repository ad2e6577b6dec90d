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
    def main(x: R.Tensor(dtype="float32", ndim=2)) -> R.Tensor(dtype="float32", ndim=2):
        s2 = T.int64()
        a: R.Tensor((1, s2), dtype="float32") = R.match_cast(x, R.Tensor((1, s2), dtype="float32"))
        b: R.Tensor((1, s2), dtype="float32") = R.negative(a)
        return a
