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
    def main(x: R.Tensor((), dtype="int64"), y: R.Tensor((), dtype="int64"), z: R.Tensor((), dtype="int64"), w: R.Tensor((), dtype="bool")) -> R.Tensor((), dtype="int64"):
        if w:
            with R.dataflow():
                b: R.Tensor((), dtype="int64") = R.add(x, x)
                R.output()
            a: R.Tensor((), dtype="int64") = y
        else:
            a: R.Tensor((), dtype="int64") = z
        return a
