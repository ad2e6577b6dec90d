"""[Relax] ReorderPermuteDimsAfterConcat gives a module that uses a value after its kill

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
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        a: R.Tensor((1,), dtype="float32") = R.permute_dims(x, axes=None)
        b: R.Tensor((1,), dtype="float32") = R.permute_dims(x, axes=None)
        c: R.Tensor((1,), dtype="float32") = R.concat((a,), axis=0)
        return b

mod = relax.transform.RemovePurityChecking()(Module)
mod = relax.transform.KillAfterLastUse()(mod)
after = relax.transform.ReorderPermuteDimsAfterConcat()(mod)
def ended_after(body, ended):  # The variables that have ended after a body.
    for value in [*[b.value for block in body.blocks for b in block.bindings], body.body]:
        if isinstance(value, relax.If):
            ended = ended_after(value.true_branch, ended) | ended_after(value.false_branch, ended)
            value = value.cond
        again = [v.name for v in relax.analysis.all_vars(value) if v in ended]
        assert not again, f"{again[0]} was killed, and is named again: {value}"
        ended |= {value.args[0]} if ".kill_" in str(getattr(value, "op", "")) else set()
    return ended

for function in [f for f in after.functions.values() if isinstance(f, relax.Function)]:
    ended_after(function.body, frozenset())
print("the bug is gone", flush=True)
