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
    def main() -> R.Tensor((0,), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((0,), dtype="float32") = R.add(R.const(np.zeros(0, "float32"), "float32"), R.const(1.0, "float32"))
            R.output(a)
        return a
