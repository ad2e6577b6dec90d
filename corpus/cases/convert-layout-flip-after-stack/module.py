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
    def main(x: R.Tensor((1, 1, 1), dtype="float32")) -> R.Tensor((1, 1, 1, 1), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1, 1, 1, 1), dtype="float32") = R.stack((x,), axis=0)
            b: R.Tensor((1, 1, 1, 1), dtype="float32") = R.flip(a, axis=3)
            R.output(b)
        return b
