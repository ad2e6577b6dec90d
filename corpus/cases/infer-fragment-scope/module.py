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
    def prim(A4: T.Buffer((1, 1), "float16"), A5: T.Buffer((1, 1), "float16"), T6: T.Buffer((1, 1), "float16")):
        with T.sblock("root"):
            T.reads()
            T.writes()
            with T.sblock("product21"):
                T.reads(A4[0, 0], A5[0, 0])
                T.writes(T6[0, 0])
                S7 = T.sblock_alloc_buffer((1, 1), "float16", scope="wmma.matrix_a")
                S8 = T.sblock_alloc_buffer((1, 1), "float16", scope="wmma.matrix_b")
                S9 = T.sblock_alloc_buffer((1, 1), "float16", scope="wmma.accumulator")
                T.tvm_load_matrix_sync(S7.data, 1, 1, 1, 1, T.call_intrin("handle", "tirx.tvm_access_ptr", T.float16(1.0), A4.data, 1, 256, 1), 1, "row_major")
                T.tvm_load_matrix_sync(S8.data, 1, 1, 1, 1, T.call_intrin("handle", "tirx.tvm_access_ptr", T.float16(1.0), A5.data, 1, 256, 1), 1, "col_major")
                T.tvm_fill_fragment(S9.data, 1, 1, 1, 1, T.float16(0.0))
                T.tvm_mma_sync(S9.data, 1, S7.data, 1, S8.data, 1, S9.data, 1)
                T.tvm_store_matrix_sync(S9.data, 1, 1, 1, 1, T.call_intrin("handle", "tirx.tvm_access_ptr", T.float16(1.0), T6.data, 1, 256, 2), 1, "row_major")

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float16")) -> R.Tensor((1, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x, x), out_ty=R.Tensor((1, 1), dtype="float16"))
        return a
