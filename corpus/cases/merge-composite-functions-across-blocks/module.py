from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p2: R.Tensor((7, 2, 5, n), dtype="float32"), p5: R.Tensor((3, m), dtype="float32"), p8: R.Tensor((1,), dtype="float32"), p12: R.Tensor((k, 7, 4), dtype="float32"), p15: R.Tensor((4, 2, 6), dtype="float16"), p6: R.Tensor((m, m), dtype="float32"), v7: R.Tensor((3, m), dtype="float32")) -> R.Tuple(R.Tensor((4, 2, 3), dtype="float16"), R.Tensor((3, m), dtype="float32")):
        R.func_attr({"num_input": 5})
        with R.dataflow():
            v9: R.Tensor((3, m), dtype="float32") = R.add(v7, p8)
            v10: R.Tensor((3, m), dtype="float32") = R.nn.relu(v9)
            R.output(v10)
        v16: R.Tensor((4, 2, 3), dtype="float16") = R.nn.avg_pool1d(p15, pool_size=[1], strides=[2], dilation=[1], padding=[0, 0], ceil_mode=True, count_include_pad=False, layout="NCW", out_layout="NCW")
        with R.dataflow():
            v19: R.Tensor((3, m), dtype="float32") = v10
            R.output(v19)
        return (v16, v19)
