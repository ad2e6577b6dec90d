"""[Relax] RemoveUnusedOutputs gives an ill-formed module: ValueError: Operator-specific validation (FValidate) for...

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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tuple(R.Tensor(dtype="float32", ndim=1), R.Tensor(dtype="int64", ndim=1)):
        s0 = T.int64()
        a: R.Tensor((s0,), dtype="float32") = R.match_cast(x, R.Tensor((s0,), dtype="float32"))
        b: R.Tensor((s0,), dtype="float32") = R.reshape(a, R.shape([s0]))
        c: R.Tensor((s0 // 2 + 1,), dtype="int64") = R.full(R.shape([s0 // 2 + 1]), R.const(1, "int64"), dtype=None)
        return (b, c)

mod = relax.transform.LegalizeOps()(Module)
after = relax.transform.RemoveUnusedOutputs()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
