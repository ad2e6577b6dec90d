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
    @R.function(private=True)
    def take(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        return x

    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        # from tvm.script import relax as R
        
        @R.function
        def a() -> R.Tensor((), dtype="float32"):
            return x

        b: R.Tensor((), dtype="float32") = a()
        c: R.Tensor((), dtype="float32") = cls.take(b)
        return c
