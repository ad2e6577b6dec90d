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
    @R.function(private=True)
    def sub1() -> R.Tuple(R.Tensor((8,), dtype="float16")):
        a: R.Tensor((8,), dtype="float16") = R.hamming_window(8, False, T.float64(0.5), T.float64(0.5), dtype="float16")
        return (a,)

    @R.function
    def main() -> R.Tuple(R.Tensor((8,), dtype="float16")):
        cls = Module
        a: R.Tuple(R.Tensor((8,), dtype="float16")) = cls.sub1()
        return a
