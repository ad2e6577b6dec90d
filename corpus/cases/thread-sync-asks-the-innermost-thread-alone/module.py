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
    def prim(A2: T.Buffer((3, 8), "int32"), A16: T.Buffer((4, 5), "int32"), T9: T.Buffer((3, 8), "int32"), T27: T.Buffer((4, 5), "int32")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        # with T.sblock("root"):
        R6 = T.sblock_alloc_buffer((3,), "int32", scope="local")
        R21 = T.sblock_alloc_buffer((4,), "int32", scope="shared")
        R22 = T.sblock_alloc_buffer((4,), "int32", scope="shared")
        for i1 in T.thread_binding(3, thread="blockIdx.x"):
            for i3 in T.thread_binding(16, thread="threadIdx.x"):
                with T.sblock("red7"):
                    v4 = T.axis.spatial(3, i1)
                    k5 = T.axis.reduce(8, i3)
                    T.where(i3 < 8)
                    T.reads(A2[v4, k5])
                    T.writes(R6[v4])
                    with T.init():
                        R6[v4] = -2147483648
                    R6[v4] = T.max(R6[v4], A2[v4, k5])
            for i11 in range(1):
                for i10 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("use13"):
                        v8 = T.axis.spatial(3, i1)
                        v12 = T.axis.spatial(8, i11 * 16 + i10)
                        T.where(i11 * 16 + i10 < 8)
                        T.reads(R6[v8], A2[v8, v12])
                        T.writes(T9[v8, v12])
                        T9[v8, v12] = 0 - R6[v8] - A2[v8, v12]
        for i14 in T.thread_binding(2, thread="blockIdx.x"):
            for i15 in T.thread_binding(2, thread="threadIdx.y"):
                for i18 in range(3):
                    for i17 in T.thread_binding(2, thread="threadIdx.x"):
                        with T.sblock("red25"):
                            v19 = T.axis.spatial(4, i14 * 2 + i15)
                            k20 = T.axis.reduce(5, i17 * 3 + i18)
                            T.where(i17 * 3 + i18 < 5)
                            T.reads(A16[v19, k20])
                            T.writes(R21[v19], R22[v19])
                            with T.init():
                                R21[v19] = -1
                                R22[v19] = 2147483647
                            x23: T.let[T.int32] = T.Select(R22[v19] < T.Select(1 == v19, v19, A16[v19, k20]) or R22[v19] == T.Select(1 == v19, v19, A16[v19, k20]) and R21[v19] < k20, R21[v19], k20)
                            x24: T.let[T.int32] = T.Select(R22[v19] < T.Select(1 == v19, v19, A16[v19, k20]), R22[v19], T.Select(1 == v19, v19, A16[v19, k20]))
                            R21[v19] = x23
                            R22[v19] = x24
                for i29 in range(3):
                    for i28 in T.thread_binding(2, thread="threadIdx.x"):
                        with T.sblock("use31"):
                            v26 = T.axis.spatial(4, i14 * 2 + i15)
                            v30 = T.axis.spatial(5, i29 * 2 + i28)
                            T.where(i29 * 2 + i28 < 5)
                            T.reads(A16[v26, v30], R22[v26])
                            T.writes(T27[v26, v30])
                            T27[v26, v30] = T.Select(0 - A16[v26, v30] != A16[v26, v30], T.max(R22[v26], v30), R22[v26])

    @R.function
    def main(A2: R.Tensor((3, 8), dtype="int32"), A16: R.Tensor((4, 5), dtype="int32")) -> R.Tuple(R.Tensor((3, 8), dtype="int32"), R.Tensor((4, 5), dtype="int32")):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.prim, (A2, A16), out_ty=[R.Tensor((3, 8), dtype="int32"), R.Tensor((4, 5), dtype="int32")])
            gv: R.Tuple(R.Tensor((3, 8), dtype="int32"), R.Tensor((4, 5), dtype="int32")) = lv
            R.output(gv)
        return gv
