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
    def main(x: R.Tensor((1,), dtype="int32"), y: R.Tensor((1, 1), dtype="int32"), z: R.Tensor((1, 1, 6), dtype="float32")) -> R.Tuple(R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int32")):
        a: R.Tuple(R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int32")) = R.vision.non_max_suppression(z, x, y, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, coord_start=2, score_index=1, id_index=0, return_indices=True, invalid_to_bottom=False, soft_nms_sigma=0.0, score_threshold=0.0)
        return a
