"""StaticPlanBlockMemory reuses the storage of a branch behind it

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
        if c:
            a: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            b: R.Tensor((2, 3), dtype="float32") = R.multiply(a, a)
            r: R.Tensor((2, 3), dtype="float32") = b
        else:
            a1: R.Tensor((2, 3), dtype="float32") = R.subtract(x, x)
            r: R.Tensor((2, 3), dtype="float32") = a1
        s: R.Tensor((2, 3), dtype="float32") = R.exp(r)
        t: R.Tensor((2, 3), dtype="float32") = R.sqrt(s)
        u: R.Tensor((2, 3), dtype="float32") = R.add(t, r)
        return u

mod = relax.transform.LegalizeOps()(Module)
mod = relax.transform.ToNonDataflow()(mod)
mod = relax.transform.RemovePurityChecking()(mod)
mod = relax.transform.CallTIRRewrite()(mod)
after = relax.transform.StaticPlanBlockMemory()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
