"""[Relax] ConvertToDataflow gives an ill-formed module: ValueError: Operator-specific validation (FValidate) for...

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
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

s2 = TypeVar("s2")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 1), dtype="float32"), y: R.Tensor((s2,), dtype="float32")) -> R.Tensor((s2, 1, 1), dtype="float32"):
        with R.dataflow():
            a: R.Tensor(dtype="float32", ndim=3) = R.match_cast(x, R.Tensor(dtype="float32", ndim=3))
            b: R.Tensor((s2, 1, 1), dtype="float32") = R.match_cast(a, R.Tensor((s2, 1, 1), dtype="float32"))
            c: R.Tensor((s2 * 3,), dtype="float32") = R.repeat(y, repeats=3, axis=None)
            R.output(b)
        return b

mod = relax.transform.LegalizeOps()(Module)
mod = relax.transform.CanonicalizeBindings()(mod)
after = relax.transform.ConvertToDataflow(min_size=1)(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
