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
    def prim(A3: T.Buffer((1, 1), "uint8"), R7: T.Buffer((1,), "uint8")):
        # with T.sblock("root"):
        for i8, i9 in T.grid(1, 1):
            with T.sblock("red4"):
                k5, v6 = T.axis.remap("RS", [i8, i9])
                T.reads(A3[k5, v6])
                T.writes(R7[v6])
                R7[v6] = A3[k5, v6]
