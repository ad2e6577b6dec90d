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
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global"), I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 1, "global")]})
    @R.function
    def main(p1: R.Tensor((8, 3, 3, 4), dtype="float32"), p2: R.Tensor((3, 2, 3, 1), dtype="float32"), p3: R.Tensor((2, 1, 4), dtype="float32"), p4: R.Tensor((4, 5), dtype="float32"), p5: R.Tensor((2, 5, 3), dtype="float32"), p14: R.Tensor((2, 2), dtype="float32")) -> R.Tuple(R.Tensor((4, 1, 3), dtype="float32"), R.Tensor((2, 1, 3), dtype="float32"), R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            v6: R.Tensor((2, 4, 3), dtype="float32") = R.matmul(p4, p5, out_dtype=None)
            v8: R.Tensor((2, 1, 3), dtype="float32") = R.matmul(p3, v6, out_dtype=None)
            v9: R.Tensor((2, 1, 3), dtype="float32") = R.ewise_fma(v8, v8, v8)
            v10: R.Tensor((2, 1, 3), dtype="float32") = R.abs(v9)
            v11: R.Tensor((2, 1, 3), dtype="float32") = R.maximum(v8, v9)
            v13: R.Tensor((4, 1, 3), dtype="float32") = R.concat((v10, v11), axis=0)
            v16: R.Tensor((2, 2), dtype="float32") = R.reshape(p14, R.shape([2, 2]))
            R.output(v6, v8, v13, v16)
        return (v13, v8, v16)
