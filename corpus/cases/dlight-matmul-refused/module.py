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
    @T.prim_func(private=True, s_tir=True)
    def dead_prim(A1: T.Buffer((T.int64(2), T.int64(2)), "float32"), W9: T.Buffer((T.int64(2), T.int64(2)), "float32"), R14: T.Buffer((T.int64(2), T.int64(2)), "float32")):
        # with T.sblock("root"):
        for i15 in range(T.int64(1), T.int64(3)):
            with T.sblock("mm10"):
                v11 = T.axis.spatial(T.int64(2), i15)
                v12 = T.axis.spatial(T.int64(2), T.FloorDiv(T.int64(0), T.int64(2)))
                k13 = T.axis.reduce(T.int64(2), T.FloorMod(T.int64(0), T.int64(2)))
                T.reads(A1[v11, k13], W9[k13, v12])
                T.writes(R14[v11, v12])
                R14[v11, v12] = A1[v11, k13] * W9[k13, v12]

    @R.function
    def main(x: R.Tensor((), dtype="float16")) -> R.Tensor((), dtype="float16"):
        return x
