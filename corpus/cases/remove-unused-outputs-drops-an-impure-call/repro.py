"""[Relax] RemoveUnusedOutputs drops what a public function prints: a public function prints less

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
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
def prints(module, name, at_most, inside=()):
    """How often a call of the function prints, by itself and by way of others: at least, or at most."""
    function = {gvar.name_hint: f for gvar, f in module.functions.items()}.get(name)
    if not isinstance(function, relax.Function) or (not at_most and (function.attrs or {}).get("relax.force_pure")):
        return 0
    if name in inside:  # A function that calls itself.
        return float("inf") if at_most else 0
    found = [binding.value for block in function.body.blocks for binding in block.bindings]
    if at_most:  # Each branch, each local function and each mention of another function counts.
        found = []
        relax.analysis.post_order_visit(function, found.append)
    count = 0
    for call in [expr for expr in found if isinstance(expr, tvm.ir.Call)]:
        named = (call.op, *call.args)
        count += any(str(getattr(f, "global_symbol", getattr(f, "name", ""))) in PRINTS for f in named)
        callees = [f.name_hint for f in (named if at_most else named[:1]) if isinstance(f, tvm.ir.GlobalVar)]
        count += sum(prints(module, callee, at_most, (*inside, name)) for callee in callees)
    return count

PRINTS = ("relax.print", "relax.run.print")
left = {gvar.name_hint for gvar in after.get_global_vars()}
public = [g.name_hint for g, f in before.functions.items() if "global_symbol" in (f.attrs or {})]
for name in [name for name in public if name in left]:
    had, has = prints(before, name, False), prints(after, name, True)
    assert had <= has, f"{name} prints {had} times, now {has}"
print("the bug is gone", flush=True)
