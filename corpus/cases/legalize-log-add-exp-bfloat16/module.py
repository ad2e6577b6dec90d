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
    def main(x: R.Tensor((), dtype="bfloat16")) -> R.Tensor((), dtype="bfloat16"):
        a: R.Tensor((), dtype="bfloat16") = R.log_add_exp(x, x)
        return a
