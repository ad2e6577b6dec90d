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
    @R.function(pure=False)
    def main(x: R.Tensor((), dtype="float32"), y: R.Tensor((), dtype="float32"), z: R.Tensor((), dtype="float32"), w: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        a: R.Tensor((), dtype="float32") = R.subtract(x, x)
        b: R.Tuple(R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"))) = ((a, x, y),)
        R.print(z, format=R.str("{}"))
        d: R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32")) = b[0]
        e: R.Tensor((), dtype="float32") = d[0]
        f: R.Tensor((), dtype="float32") = R.subtract(w, e)
        return f
