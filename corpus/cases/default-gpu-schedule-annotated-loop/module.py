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
    def prim(T5: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        # with T.sblock("root"):
        for i6 in T.serial(T.int64(1), annotations={"pragma_auto_unroll_max_step": 16, "pragma_unroll_explicit": 1}):
            for i7 in range(T.int64(1)):
                with T.sblock("map2"):
                    v3, v4 = T.axis.remap("SS", [i6, i7])
                    T.reads()
                    T.writes(T5[v3, v4])
                    T5[v3, v4] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a
