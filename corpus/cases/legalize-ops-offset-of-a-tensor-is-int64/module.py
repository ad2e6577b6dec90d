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
    @R.function(private=True)
    def inner(n: T.uint64, y: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        return y

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        gv: T.uint64 = R.inspect.tensor_byte_offset(x)
        gv1: R.Tensor((4,), dtype="float32") = cls.inner(gv, x)
        return gv1
