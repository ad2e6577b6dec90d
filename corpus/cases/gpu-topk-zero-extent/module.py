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
    def main(x: R.Tensor((1, 0), dtype="float32")) -> R.Tuple(R.Tensor((1, 0), dtype="float32"), R.Tensor((1, 0), dtype="int32")):
        a: R.Tuple(R.Tensor((1, 0), dtype="float32"), R.Tensor((1, 0), dtype="int32")) = R.topk(x, k=1, axis=-1, ret_type="both", largest=True, dtype="int32")
        return a
