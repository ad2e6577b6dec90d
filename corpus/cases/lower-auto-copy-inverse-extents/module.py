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
    def prim(B: T.Buffer((1, 2, 2), "float16")):
        with T.sblock("tiles"):
            T.reads()
            T.writes(B[0, 0:2, 0:2])
            S = T.sblock_alloc_buffer((2, 2), "float16", scope="shared")
            for i, j in T.grid(2, 2):
                S[i, j] = T.float16(1.0)
            with T.sblock("copy"):
                T.reads(S[0:2, 0:2])
                T.writes(B[0, 0:2, 0:2])
                T.sblock_attr({"auto_copy": True, "vector_bytes": 2})
                for i, j in T.grid(2, 2):
                    B[0, j, i] = S[i, j]

    @R.function
    def main() -> R.Tensor((1, 2, 2), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 2, 2), dtype="float16"))
        return a
