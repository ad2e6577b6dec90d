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
    def external1(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        return (x,)

    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        cls = Module
        a: R.Tuple(R.Tensor((), dtype="float32")) = cls.external1(x)
        return a
