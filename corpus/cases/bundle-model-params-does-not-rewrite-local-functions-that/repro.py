"""[Relax] BundleModelParams gives an ill-formed module: undefined variable

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm_ffi
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Callable((), R.Tensor((), dtype="float32"), True):
        R.func_attr({"num_input": 0})
        # from tvm.script import relax as R
        
        @R.function
        def a() -> R.Tensor((), dtype="float32"):
            return x

        return a

after = relax.transform.BundleModelParams('weights')(Module)
everywhere = tvm_ffi.structural_map

status = 1  # From here on, an exception is the bug.
for name, function in after.functions_items():
    if isinstance(function, relax.Function):
        free = [*relax.analysis.free_vars(function), *relax.analysis.free_symbolic_vars(function)]
        free += [g for g in relax.analysis.all_global_vars(function) if g not in after.functions]
        assert not free, f"undefined: {free}"
        pure = lambda one: one.with_attr("relax.force_pure", one.is_pure)  # Purity is not the question.
        after[name] = everywhere(function, [(relax.Function, pure)])
try:
    relax.analysis.well_formed(after)
except ValueError as error:
    assert "mpure" in str(error), error
print("the bug is gone", flush=True)
