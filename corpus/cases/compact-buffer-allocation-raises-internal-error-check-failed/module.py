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
    def prim(T2: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T8 = T.alloc_buffer((T.int64(1), T.int64(5)))
        for i14 in range(T.int64(2)):
            T2[T.int64(0), i14] = T8[T.int64(0), T.Mod(i14, T.int64(1)) * i14]
