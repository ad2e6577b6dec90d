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
    def main(x: R.Tuple(R.Tensor((1,), dtype="float32")), y: R.Tensor((), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        s1 = T.int64()
        with R.dataflow():
            a: R.Tensor((1,), dtype="float32") = x[0]
            b: R.Tensor((1,), dtype="float32") = R.subtract(y, a)
            c: R.Tensor((s1,), dtype="float32") = R.match_cast(a, R.Tensor((s1,), dtype="float32"))
            R.output(b)
        return b
