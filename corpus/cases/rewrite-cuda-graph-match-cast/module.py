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
    def main(x: R.Tensor((2, 1, 2), dtype="float32"), y: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        a: R.Tensor((2, 2), dtype="float32") = R.layout_transform(x, index_map=T.index_map(lambda i0, i1, i2: (i0, i1 * 2 + i2)), pad_value=None)
        b: R.Tensor((2, 2), dtype="float32") = R.sinh(a)
        c: R.Tensor((2, 2), dtype="float32") = R.match_cast(b, R.Tensor((2, 2), dtype="float32"))
        return y
