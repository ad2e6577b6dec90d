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
    def dead_prim():
        # with T.sblock("root"):
        for i8 in range(T.int64(1), T.int64(2)):
            with T.sblock("map4"):
                v5 = T.axis.spatial(T.int64(1), i8)
                T.reads()
                T.writes()
                T.evaluate(0)

    @R.function
    def main(x: R.Tensor((), dtype="float64")) -> R.Tensor((), dtype="float64"):
        return x
