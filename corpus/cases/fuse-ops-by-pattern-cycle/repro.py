"""[Relax] FuseOpsByPattern gives an ill-formed module: undefined DataflowVar

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from tvm.relax import dpl
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((), dtype="float32") = R.matmul(x, x, out_dtype=None)
            b: R.Tensor((), dtype="float32") = R.add(a, a)
            c: R.Tensor((), dtype="float32") = R.add(b, b)
            d: R.Tensor((), dtype="float32") = R.add(c, a)
            R.output(d)
        return d

after = relax.transform.FuseOpsByPattern([('byoc.optional',
    dpl.is_op('relax.nn.relu')(dpl.is_op('relax.add')(dpl.is_op('relax.matmul')(dpl.wildcard(), dpl.wildcard()),
    dpl.wildcard())) | dpl.is_op('relax.add')(dpl.is_op('relax.matmul')(dpl.wildcard(), dpl.wildcard()),
    dpl.wildcard())), ('byoc.either', dpl.is_op('relax.nn.relu')(dpl.is_op('relax.add')(dpl.wildcard(),
    dpl.wildcard()) | dpl.wildcard())), ('byoc.float32', dpl.is_op('relax.multiply')(dpl.wildcard(),
    dpl.wildcard()).has_dtype('float32'))], bind_constants=False)(Module)
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
