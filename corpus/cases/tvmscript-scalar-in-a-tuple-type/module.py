from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(s2: T.int64, x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Prim("int64"), R.Tensor((), dtype="float32")):
        return (s2, x)
