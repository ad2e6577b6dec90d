"""[Relax] LazyGetInput gives a module whose types contradict each other: the type of a called GlobalVar and its...

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
    @R.function
    def external1(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        return (x,)

    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        cls = Module
        a: R.Tuple(R.Tensor((), dtype="float32")) = cls.external1(x)
        return a

after = relax.transform.LazyGetInput()(Module)
def contradict(one, other):
    fails = relax.analysis.BaseCheckResult.FAIL_L0
    return relax.analysis.type_base_check(one, other) == fails == relax.analysis.type_base_check(other, one)

functions = [f for f in after.functions.values() if isinstance(f, relax.Function)]
for function in functions:
    one, other = function.ret_ty, function.body.body.ty
    assert not contradict(one, other), f"annotated to return {one}, returns {other}"
for block, binding in [(block, b) for f in functions for block in f.body.blocks for b in block.bindings]:
    value, types = binding.value, [binding.value.ty]
    if isinstance(value, tvm.ir.Call) and isinstance(value.op, tvm.ir.Op):
        call = tvm.ir.Call(value.op, value.args, value.attrs, value.ty_args)
        types.append(relax.BlockBuilder().normalize(call).ty)
    if isinstance(value, tvm.ir.Tuple):
        types.append(tvm.ir.TupleType([field.ty for field in value.fields]))
    if isinstance(value, tvm.ir.Call) and isinstance(value.op, tvm.ir.GlobalVar):
        one, other = value.op.ty, after[value.op].ty
        assert not contradict(one, other), f"{value.op.name_hint} is called as {one}, but it is {other}"
    wrong = [] if isinstance(binding, relax.MatchCast) else [ty for ty in types if contradict(binding.var.ty, ty)]
    assert not wrong, f"{binding.var.name} is annotated {binding.var.ty}, but it is {wrong[0]}"
print("the bug is gone", flush=True)
