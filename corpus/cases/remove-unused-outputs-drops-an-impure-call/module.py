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
    @R.function(pure=False, private=True)
    def sub1(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="int64")):
        R.print(x, format=R.str("{}"))
        return (R.const(0, "int64"),)

    @R.function(pure=False)
    def main(x: R.Tensor((), dtype="float32"), y: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        a: R.Tuple(R.Tensor((), dtype="int64")) = cls.sub1(x)
        return y
