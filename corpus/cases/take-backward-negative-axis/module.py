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
    def main(x: R.Tensor((2,), dtype="int32"), y: R.Tensor((1, 2, 2, 1), dtype="float32"), z: R.Tensor((1, 2, 1, 1), dtype="float32")) -> R.Tensor((1, 2, 1, 1), dtype="float32"):
        a: R.Tensor((1, 2, 1, 1), dtype="float32") = tvm.ir.Call("relax.grad.take_backward", [y, z, x], R.take(z, x, axis=-2, mode="").attrs)
        return a
