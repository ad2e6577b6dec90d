from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, n), dtype="float32")) -> R.Tensor((n, "T.min(9223372036854775807, n) - T.min(T.max(n - 1, 0), n)"), dtype="float32"):
        a: R.Tensor((n, T.min(9223372036854775807, n) - T.min(T.max(n - 1, 0), n)), dtype="float32") = R.strided_slice(x, (1,), (-1,), (9223372036854775807,), assume_inbound=False)
        return a
