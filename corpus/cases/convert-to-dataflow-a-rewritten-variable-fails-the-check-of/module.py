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

s2 = TypeVar("s2")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 1), dtype="float32"), y: R.Tensor((s2,), dtype="float32")) -> R.Tensor((s2, 1, 1), dtype="float32"):
        with R.dataflow():
            a: R.Tensor(dtype="float32", ndim=3) = R.match_cast(x, R.Tensor(dtype="float32", ndim=3))
            b: R.Tensor((s2, 1, 1), dtype="float32") = R.match_cast(a, R.Tensor((s2, 1, 1), dtype="float32"))
            c: R.Tensor((s2 * 3,), dtype="float32") = R.repeat(y, repeats=3, axis=None)
            R.output(b)
        return b
