"""[Relax] RemoveUnusedOutputs drops what a public function prints: a public function prints less

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function(pure=False, private=True)
    def sub1(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="int64")):
        R.print(x, format=R.str("{}"))
        return (R.const(0, "int64"),)

    @R.function(pure=False)
    def main(x: R.Tensor((), dtype="float32"), y: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        a: R.Tuple(R.Tensor((), dtype="int64")) = cls.sub1(x)
        return y

before = Module
after = relax.transform.RemoveUnusedOutputs()(before)
def effects(of, module, way, inside=()):
    """How often it prints, calls impure external functions, and has an If, by itself and by way of others."""
    count, again = np.zeros(3), lambda part: effects(part, module, way, inside)
    match of:
        case relax.SeqExpr():
            count += sum(again(binding.value) for block in of.blocks for binding in block.bindings)
        case relax.Function() | relax.Tuple() if way == "mentioned":
            count += sum(map(again, [of.body] if isinstance(of, relax.Function) else of.fields))
        case relax.If():
            both = again(of.true_branch), again(of.false_branch)
            count += {"mentioned": sum(both) + [0, 0, 1], "branches": np.maximum(*both), "surely": 0}[way]
        case tvm.ir.GlobalVar() if of in inside:  # A function that calls itself.
            count += np.inf if way == "mentioned" else 0
        case tvm.ir.GlobalVar() if way == "mentioned" or not (module[of].attrs or {}).get("relax.force_pure"):
            count += effects(getattr(module[of], "body", None), module, way, (*inside, of))
        case tvm.ir.Call():
            named = of.op, *of.args
            count[0] += any(str(getattr(f, "global_symbol", getattr(f, "name", ""))) in PRINTS for f in named)
            count += sum(map(again, named if way == "mentioned" else named[:1]))
        case relax.ExternFunc():
            count[1] += not str(of.global_symbol).startswith(("vm.", "relax.", "runtime."))
    return count

PRINTS, left = ("relax.print", "relax.run.print"), {gvar.name_hint: gvar for gvar in after.get_global_vars()}
for gvar in [g for g, f in before.functions.items() if "global_symbol" in (f.attrs or {}) and g.name_hint in left]:
    has, parts = effects(left[gvar.name_hint], after, "mentioned"), effects(gvar, before, "mentioned")
    had = effects(gvar, before, "surely" if parts[2] > has[2] else "branches")  # With an If, a branch may go.
    assert (had <= has)[:2].all(), f"{gvar.name_hint} prints {had[0]:g} times, now {has[0]:g}; calls {had[1]:g}, {has[1]:g}"
print("the bug is gone", flush=True)
