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
    def dead_prim(W3: T.Buffer((1, 1), "int64"), R8: T.Buffer((1, 1), "int64")):
        # with T.sblock("root"):
        for i9 in range(1, 2):
            for i10, i11 in T.grid(1, 1):
                with T.sblock("mm4"):
                    v5, v6, k7 = T.axis.remap("SSR", [i9, i10, i11])
                    T.reads(W3[v6, k7])
                    T.writes(R8[v5, v6])
                    R8[v5, v6] = W3[v6, k7]

    @R.function
    def main(x: R.Tensor((), dtype="float16")) -> R.Tensor((), dtype="float16"):
        return x

Module["dead_prim"] = laid_out(Module["dead_prim"], "R8")
