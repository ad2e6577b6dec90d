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
    def prim1(W20: T.Buffer((T.int64(1), T.int64(1)), "int64"), R25: T.Buffer((T.int64(2), T.int64(1)), "int64")):
        # with T.sblock("root"):
        R16 = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "int64")
        for i17, i18, i19 in T.grid(T.int64(2), T.int64(1), T.int64(2)):
            with T.sblock("win12"):
                v13, v14, k15 = T.axis.remap("SSR", [i17, i18, i19])
                T.reads()
                T.writes(R16[v13, v14])
                with T.init():
                    R16[v13, v14] = T.int64(-9223372036854775808)
                T.evaluate(0)
        for i26, i27, i28 in T.grid(T.int64(2), T.int64(1), T.int64(1)):
            with T.sblock("mm21"):
                v22, v23, k24 = T.axis.remap("SSR", [i26, i27, i28])
                T.reads(R16[v22, k24], W20[v23, k24])
                T.writes(R25[v22, v23])
                with T.init():
                    R25[v22, v23] = T.int64(0)
                R25[v22, v23] = R16[v22, k24] * W20[v23, k24]

    @R.function
    def main(x: R.Tensor((1, 1), dtype="int64")) -> R.Tensor((2, 1), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((2, 1), dtype="int64"))
        return a
