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
    def dead_prim(T6: T.Buffer((1, 1), "float16")):
        # with T.sblock("root"):
        for i7, i8 in T.grid(1, 1):
            for i9 in range(-3, -2):
                with T.sblock("pad3"):
                    v4 = T.axis.spatial(1, 0)
                    v5 = T.axis.spatial(1, 0)
                    T.where(T.LT(0, 1))
                    T.reads()
                    T.writes(T6[v4, v5])
                    T6[v4, v5] = T.float16(1.0)

    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        return x
