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
    def main(p6: R.Tensor((6, 5, 2, 8), dtype="float32"), p8: R.Tensor((5, 1), dtype="float32"), p10: R.Tensor((4, 5), dtype="float32"), v11: R.Tensor((3, 5), dtype="float32")) -> R.Tensor((3, 1), dtype="float32"):
        v12: R.Tensor((3, 1), dtype="float32") = R.matmul(v11, p8, out_dtype=None)
        return v12
