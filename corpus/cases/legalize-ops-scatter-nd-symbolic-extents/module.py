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

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n,), dtype="int32"), y: R.Tensor((1, "n + 1"), dtype="int32"), z: R.Tensor((1, 1), dtype="int32")) -> R.Tensor((1, "n + 1"), dtype="int32"):
        a: R.Tensor((1, n + 1), dtype="int32") = R.scatter_nd(y, z, y, reduction="update")
        return a
