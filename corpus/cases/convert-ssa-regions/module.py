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
    def prim(n: T.int64):
        # with T.sblock("root"):
        T4 = T.sblock_alloc_buffer((n,), "uint8")
        with T.sblock("map2"):
            i5 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T4[i5])
            T4[i5] = T.uint8(1)

    @T.prim_func(private=True, s_tir=True)
    def twin(n: T.int64):
        # with T.sblock("root"):
        T4 = T.sblock_alloc_buffer((n,), "uint8")
        with T.sblock("map2"):
            i5 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T4[i5])
            T4[i5] = T.uint8(1)

    @R.function
    def main(x: R.Tuple(R.Tensor((), dtype="uint8"))) -> R.Tuple(R.Tensor((), dtype="uint8")):
        return x

Module["twin"] = Module["prim"]
