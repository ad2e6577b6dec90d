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
    def sub1(p1: R.Tensor((1, 1, 4), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((1, 3), dtype="int64"), R.Tensor((1,), dtype="int64"))):
        w3: R.Tuple(R.Tensor((1, 3), dtype="int64"), R.Tensor((1,), dtype="int64")) = R.vision.all_class_non_max_suppression(p1, R.const(np.array([[[1.0]]], "float32"), "float32"), R.const(1, "int64"), R.const(1.0, "float32"), R.const(1.0, "float32"), output_format="onnx")
        return (w3,)

    @R.function
    def main(p11: R.Tensor((1, 1, 4), dtype="float32")) -> R.Tuple(R.Tuple(R.Tensor((1, 3), dtype="int64"), R.Tensor((1,), dtype="int64"))):
        cls = Module
        v13: R.Tuple(R.Tuple(R.Tensor((1, 3), dtype="int64"), R.Tensor((1,), dtype="int64"))) = cls.sub1(p11)
        return v13
