"""[S-TIR] HoistExpression gives an ill-formed module: PrimFunc matmul: InternalError: ValueError: Invalid use of...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, s_tir
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        a: R.Tensor((2, 2), dtype="float32") = R.matmul(x, x, out_dtype=None)
        return a

mod = relax.transform.LegalizeOps()(Module)
with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
    mod = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
        tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), tvm.s_tir.dlight.gpu.Fallback())(mod)
after = s_tir.transform.HoistExpression()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
