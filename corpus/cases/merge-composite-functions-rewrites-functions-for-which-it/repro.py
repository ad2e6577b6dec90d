"""[Relax] MergeCompositeFunctions lets an unused function change the rest: a dead Relax function makes the pass raise...

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
    def main(v17: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            v23: R.Tensor((), dtype="float32") = R.multiply(v17, v17)
            R.output(v23)
        return v23

before = Module
after = relax.transform.MergeCompositeFunctions()(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

live = tvm.transform.Sequential([relax.transform.CanonicalizeBindings(), relax.transform.DeadCodeElimination()])
for g, function in before.functions.items():
    if isinstance(function, relax.Function) and relax.analysis.all_global_vars(function):
        continue
    copy = tvm.ir.load_json(tvm.ir.save_json(function))
    copy = copy.without_attr("global_symbol") if copy.attrs and "global_symbol" in copy.attrs else copy
    with_dead = before.clone()
    with_dead.update_func(tvm.ir.GlobalVar("unused_function"), copy)
    again = relax.transform.MergeCompositeFunctions()(with_dead)
    assert not mismatch(live(again), live(after)), f"a dead copy of {g.name_hint} changes the live part"
print("the bug is gone", flush=True)
