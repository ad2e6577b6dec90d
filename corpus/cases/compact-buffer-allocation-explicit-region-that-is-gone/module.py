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
    def prim():
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((T.int64(1),))
        with T.sblock("map4"):
            i7 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T6[i7])
            T6[i7] = T.float32(1.0)

    @R.function
    def main() -> R.Tuple:
        return R.tuple()
