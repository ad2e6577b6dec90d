"""[TIRx] ForceNarrowIndexToInt32 gives an ill-formed module: PrimFunc cumsum: InternalError: ValueError: Invalid use...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        a: R.Tensor((1,), dtype="float32") = R.cumsum(x, axis=None, dtype=None, exclusive=False)
        return a

with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
    mod = relax.backend.DispatchSortScan()(Module)
mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
mod = s_tir.transform.UnifyThreadBinding()(mod)
mod = s_tir.transform.LowerOpaqueBlock()(mod)
after = tirx.transform.ForceNarrowIndexToInt32()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
