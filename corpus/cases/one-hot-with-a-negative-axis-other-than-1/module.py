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
    def main(x: R.Tensor((1,), dtype="int32")) -> R.Tensor((7, 1), dtype="float32"):
        a: R.Tensor((7, 1), dtype="float32") = R.one_hot(x, T.float32(-1.5), T.float32(-1.5), depth=7, axis=-2)
        return a
