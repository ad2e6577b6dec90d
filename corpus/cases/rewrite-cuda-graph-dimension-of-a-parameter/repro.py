"""[Relax] RewriteCUDAGraph gives an ill-formed module: undefined variable in a type argument of a call

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

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n,), dtype="float32"), y: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        a: R.Tensor((n,), dtype="float32") = R.full_like(x, R.const(1, "int32"), dtype=None)
        return y

mod = relax.transform.LegalizeOps()(Module)
with tvm.transform.PassContext(config={'relax.backend.use_cuda_graph': True}):
    after = relax.transform.RewriteCUDAGraph()(mod)
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
