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
    @R.function(private=True)
    def sub1(x: R.Tensor((1, n, 1), dtype="int64")) -> R.Tuple(R.Tensor((1, "T.min(3, n) - T.min(2, n)", 1), dtype="int64")):
        a: R.Tensor((1, T.min(3, n) - T.min(2, n), 1), dtype="int64") = R.strided_slice(x, (0, 1, -1), (0, 2, -1), (9223372036854775807, 3, 5), assume_inbound=False)
        return (a,)

    @R.function
    def main(x: R.Tensor((1, 1, 1), dtype="int64")) -> R.Tuple(R.Tensor((1, 0, 1), dtype="int64")):
        cls = Module
        a: R.Tuple(R.Tensor((1, 0, 1), dtype="int64")) = cls.sub1(x)
        return a
