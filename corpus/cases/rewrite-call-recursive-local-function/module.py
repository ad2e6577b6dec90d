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
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((2, 4), dtype="float32")):
        a: R.Tensor((1,), dtype="float32") = R.permute_dims(x, axes=None)
        b: R.Tensor((2,), dtype="float32") = R.concat((a, a), axis=0)
        # from tvm.script import relax as R
        
        @R.function
        def c() -> R.Tensor((2, 4), dtype="float32"):
            with R.dataflow():
                d: R.Tensor((2, 4), dtype="float32") = c()
                R.output(d)
            return d

        e: R.Tensor((2, 4), dtype="float32") = c()
        return (b, e)
