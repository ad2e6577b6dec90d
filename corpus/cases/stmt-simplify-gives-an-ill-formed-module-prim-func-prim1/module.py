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

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1():
        # with T.sblock("root"):
        T9 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)))
        for i11 in range(T.int64(2)):
            x8 = T.float32()
            x10: T.let[T.float32] = T.Let(T.float32(1.0), where={x8: T.Cast("float32", i11)})
            T9[i11, T.int64(0)] = x10
