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
    def main(v20: R.Tensor((), dtype="bfloat16")) -> R.Tensor((), dtype="bfloat16"):
        with R.dataflow():
            v21: R.Tensor((), dtype="bfloat16") = R.mean(v20, axis=None, keepdims=False)
            R.output(v21)
        return v21
