"""[Relax] UpdateParamType gives an ill-formed module: undefined GlobalVar

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function(private=True)
    def sub1() -> R.Tuple(R.Tensor((8,), dtype="float16")):
        a: R.Tensor((8,), dtype="float16") = R.hamming_window(8, False, T.float64(0.5), T.float64(0.5), dtype="float16")
        return (a,)

    @R.function
    def main() -> R.Tuple(R.Tensor((8,), dtype="float16")):
        cls = Module
        a: R.Tuple(R.Tensor((8,), dtype="float16")) = cls.sub1()
        return a

after = relax.transform.UpdateParamType(lambda v: None)(Module)
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
