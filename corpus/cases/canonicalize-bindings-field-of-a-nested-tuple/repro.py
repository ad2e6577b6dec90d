"""[Relax] ConvertToDataflow gives an ill-formed module: undefined DataflowVar

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((), dtype="float32"), y: R.Tensor((), dtype="float32"), z: R.Tensor((), dtype="float32"), w: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        a: R.Tensor((), dtype="float32") = R.subtract(x, x)
        b: R.Tuple(R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"))) = ((a, x, y),)
        R.print(z, format=R.str("{}"))
        d: R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32"), R.Tensor((), dtype="float32")) = b[0]
        e: R.Tensor((), dtype="float32") = d[0]
        f: R.Tensor((), dtype="float32") = R.subtract(w, e)
        return f

after = relax.transform.ConvertToDataflow()(Module)
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
