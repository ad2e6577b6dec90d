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
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        if c:
            a: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            b: R.Tensor((2, 3), dtype="float32") = R.multiply(a, a)
            r: R.Tensor((2, 3), dtype="float32") = b
        else:
            a1: R.Tensor((2, 3), dtype="float32") = R.subtract(x, x)
            r: R.Tensor((2, 3), dtype="float32") = a1
        s: R.Tensor((2, 3), dtype="float32") = R.exp(r)
        t: R.Tensor((2, 3), dtype="float32") = R.sqrt(s)
        u: R.Tensor((2, 3), dtype="float32") = R.add(t, r)
        return u
