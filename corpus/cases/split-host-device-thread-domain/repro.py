"""[TIRx] SplitHostDevice gives an ill-formed module: PrimFunc greater_kernel: InternalError: ValueError: Invalid use...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from typing import TypeVar
import tvm
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((0, 6, n, 3), dtype="int64"), p2: R.Tensor((6, 1, 1), dtype="int64"), p5: R.Tensor((2, 8), dtype="float32"), p6: R.Tensor((8, 5), dtype="float32"), p7: R.Tensor((5, 2), dtype="float32"), p17: R.Tensor((6, 2), dtype="int32"), p27: R.Tensor((3, k), dtype="float32"), p30: R.Tensor((3, k), dtype="float32"), p32: R.Tensor((3, k), dtype="float32")) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tensor((6,), dtype="int32"), R.Tensor((1, 2), dtype="int32"), R.Tensor((3, k), dtype="float32"), R.Tensor((3, k), dtype="bool"), R.Tensor((3, k), dtype="bool"), R.Tensor((8, 2), dtype="float32"), R.Tensor((8, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32"), R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            v20: R.Tensor((0, 6, n, 3), dtype="int64") = R.left_shift(p1, p2)
            v21: R.Tensor((6, 1, 1), dtype="int64") = R.bitwise_not(p2)
            v8: R.Tensor((8, 2), dtype="float32") = R.matmul(p6, p7, out_dtype=None)
            v9: R.Tensor((2, 2), dtype="float32") = R.matmul(p5, v8, out_dtype=None)
            v10: R.Tensor((8, 2), dtype="float32") = R.add(v8, v8)
            v11: R.Tensor((8, 2), dtype="float32") = v10
            v12: R.Tensor((8, 2), dtype="float32") = v8
            v13: R.Tensor((2, 2), dtype="float32") = R.abs(v9)
            v14: R.Tensor((2, 2), dtype="float32") = v9
            v15: R.Tensor((2, 2), dtype="float32") = R.clip(v14, T.float64(-32.0), T.float64(10.0))
            v22: R.Tensor((2, 2), dtype="float32") = R.nn.selu(v15)
            v18: R.Tensor((6,), dtype="int32") = R.min(p17, axis=[1], keepdims=False)
            v23: R.Tensor((1, 2), dtype="int32") = R.sum(p17, axis=[-2], keepdims=True)
            v29: R.Tensor((3, k), dtype="float32") = R.ceil(p27)
            v36: R.Tensor((3, k), dtype="bool") = R.greater(p27, p30)
            v37: R.Tensor((3, k), dtype="bool") = R.greater(p27, p32)
            R.output(v20, v21, v11, v12, v13, v14, v22, v18, v23, v29, v36, v37)
        return (v22, v18, v23, v29, v36, v37, v11, v12, v13, v14)

mod = relax.transform.LegalizeOps()(Module)
with TARGET:
    mod = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
        tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), tvm.s_tir.dlight.gpu.Fallback())(mod)
mod = relax.transform.AttachGlobalSymbol()(mod)
with TARGET:
    mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
mod = s_tir.transform.LowerInitBlock()(mod)
mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
mod = s_tir.transform.LowerOpaqueBlock()(mod)
mod = tirx.transform.FlattenBuffer()(mod)
mod = tirx.transform.CommonSubexprElim()(mod)
after = tirx.transform.SplitHostDevice()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
