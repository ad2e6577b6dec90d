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
    def prim(O5: T.Buffer((T.int64(2), T.int64(2)), "int64")):
        for i4 in range(T.int64(2)):
            O5[T.int64(0), T.int64(0)] = T.LShift(T.int64(5), T.int64(0)) - i4 + i4
