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
    def prim2(A2: T.Buffer((), "int8")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((), "float16")
        T5[()] = T.Cast("float16", T.Select(A2[()] >= T.int8(0), T.int8(1), T.int8(1)))
