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
    def main(x: R.Tensor((1,), dtype="uint8")) -> R.Tensor((), dtype="int64"):
        a: R.Tensor((), dtype="int64") = R.argmax(x, axis=None, keepdims=False)
        return a
