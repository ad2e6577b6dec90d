"""[Relax] LazyTransformParams gives an ill-formed module: undefined variable

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
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, m, 1, 1), dtype="float32"), y: R.Tensor((1, 1, 1, 1), dtype="float32"), z: R.Tensor((1, 1, 1, 1), dtype="float32"), w: R.Tensor((m,), dtype="float32")) -> R.Tensor((1, m, 1, 1), dtype="float32"):
        R.func_attr({"num_input": 3})
        a: R.Tensor((1, m, 1, 1), dtype="float32") = R.nn.attention(x, y, z, scale=None, causal_mask=None, window_size=None)
        return a

mod = relax.transform.LiftTransformParams(['main'])(Module)
mod = relax.transform.ToNonDataflow()(mod)
mod = relax.transform.RemovePurityChecking()(mod)
after = relax.transform.LazyTransformParams()(mod)
status = 1  # From here on, an exception is the bug.
for name, function in after.functions_items():
    if isinstance(function, relax.Function):
        free = [*relax.analysis.free_vars(function), *relax.analysis.free_symbolic_vars(function)]
        free += [g for g in relax.analysis.all_global_vars(function) if g not in after.functions]
        assert not free, f"undefined: {free}"
        after[name] = function.with_attr("relax.force_pure", function.is_pure)  # Purity is not the question.
try:
    relax.analysis.well_formed(after)
except ValueError as error:
    assert "mpure" in str(error), error
print("the bug is gone", flush=True)
