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
    def main(x: R.Tensor((1, 1), dtype="float32"), y: R.Tensor((1,), dtype="float32")) -> R.Tuple(R.Tuple(R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((1,), dtype="float32"))), R.Tuple(R.Tensor((1, 1), dtype="float32"))):
        with R.dataflow():
            a: R.Tensor((1, 1), dtype="float32") = R.einsum((x, x), subscripts="ji,jk->ik")
            # from tvm.script import relax as R
            
            @R.function
            def b(z: R.Tensor((1,), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((1,), dtype="float32"))):
                with R.dataflow():
                    c: R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((1,), dtype="float32")) = R.nn.dropout(z, rate=0.5)
                    R.output(c)
                d: R.Tuple(R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((1,), dtype="float32"))) = (c,)
                return d

            e: R.Tuple(R.Tuple(R.Tensor((1,), dtype="float32"), R.Tensor((1,), dtype="float32"))) = b(y)
            f: R.Tuple(R.Tensor((1, 1), dtype="float32")) = (a,)
            R.output(e, f)
        return (e, f)
