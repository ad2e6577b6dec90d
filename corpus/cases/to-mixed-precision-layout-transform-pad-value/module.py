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
    def main(x: R.Tensor((1,), dtype="float32"), y: R.Tensor((1, 1, 1), dtype="float32")) -> R.Tensor((1, 1, 4), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1, 1), dtype="float32") = R.matmul(x, y, out_dtype=None)
            b: R.Tensor((1, 1, 4), dtype="float32") = R.layout_transform(a, index_map=T.index_map(lambda i0, i1: (i0, i1 // 4, i1 % 4)), pad_value=T.float32(2.0))
            R.output(b)
        return b
