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
    def main(z: R.Tensor((1, 1), dtype="float32"), x: R.Tensor((1, 1), dtype="int32"), y: R.Tensor((1, 1), dtype="int64")) -> R.Tuple(R.Tensor((1, 1), dtype="int64"), R.Tensor((1, 1), dtype="int64")):
        a: R.Tensor((1, 1), dtype="int64") = R.multinomial_from_uniform(z, z, x, dtype="int64")
        d: R.Tensor((1, 1), dtype="int64") = R.multinomial_from_uniform(z, z, y, dtype="int64")
        return (a, d)
