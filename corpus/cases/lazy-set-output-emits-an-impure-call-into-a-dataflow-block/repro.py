"""[Relax] LazySetOutput gives an ill-formed module: impure call of a function in a dataflow block

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((), dtype="float32") = x
            R.output(a)
        return a

after = relax.transform.LazySetOutput()(Module)
functions = [f for f in after.functions.values() if isinstance(f, relax.Function)]
for block, binding in [(block, b) for f in functions for block in f.body.blocks for b in block.bindings]:
    impure = isinstance(binding.value, relax.If) or relax.analysis.contains_impure_call(binding.value)
    assert not (impure and isinstance(block, relax.DataflowBlock)), f"in a dataflow block: {binding.value}"
for function in functions:
    forced = bool(function.attrs and function.attrs.get("relax.force_pure", False))
    pure = forced or not relax.analysis.contains_impure_call(function)
    assert function.is_pure if forced else (pure or not function.is_pure), "an impure function is marked as pure"
print("the bug is gone", flush=True)
