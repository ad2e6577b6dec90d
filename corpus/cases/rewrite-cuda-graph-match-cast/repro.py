"""[Relax] RewriteCUDAGraph gives an ill-formed module: undefined variable

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
    def main(x: R.Tensor((2, 1, 2), dtype="float32"), y: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        a: R.Tensor((2, 2), dtype="float32") = R.layout_transform(x, index_map=T.index_map(lambda i0, i1, i2: (i0, i1 * 2 + i2)), pad_value=None)
        b: R.Tensor((2, 2), dtype="float32") = R.sinh(a)
        c: R.Tensor((2, 2), dtype="float32") = R.match_cast(b, R.Tensor((2, 2), dtype="float32"))
        return y

mod = relax.transform.LegalizeOps()(Module)
mod = relax.transform.ToNonDataflow()(mod)
mod = relax.transform.RemovePurityChecking()(mod)
mod = relax.transform.CallTIRRewrite()(mod)
mod = relax.transform.StaticPlanBlockMemory()(mod)
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
