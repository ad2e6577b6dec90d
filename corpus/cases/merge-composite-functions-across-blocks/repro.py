"""[Relax] MergeCompositeFunctions gives an ill-formed module: undefined variable

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from typing import TypeVar
from tvm.relax import dpl
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p2: R.Tensor((7, 2, 5, n), dtype="float32"), p5: R.Tensor((3, m), dtype="float32"), p8: R.Tensor((1,), dtype="float32"), p12: R.Tensor((k, 7, 4), dtype="float32"), p15: R.Tensor((4, 2, 6), dtype="float16"), p6: R.Tensor((m, m), dtype="float32"), v7: R.Tensor((3, m), dtype="float32")) -> R.Tuple(R.Tensor((4, 2, 3), dtype="float16"), R.Tensor((3, m), dtype="float32")):
        R.func_attr({"num_input": 5})
        with R.dataflow():
            v9: R.Tensor((3, m), dtype="float32") = R.add(v7, p8)
            v10: R.Tensor((3, m), dtype="float32") = R.nn.relu(v9)
            R.output(v10)
        v16: R.Tensor((4, 2, 3), dtype="float16") = R.nn.avg_pool1d(p15, pool_size=[1], strides=[2], dilation=[1], padding=[0, 0], ceil_mode=True, count_include_pad=False, layout="NCW", out_layout="NCW")
        with R.dataflow():
            v19: R.Tensor((3, m), dtype="float32") = v10
            R.output(v19)
        return (v16, v19)

mod = relax.transform.FuseOpsByPattern([('byoc.matmul', dpl.is_op('relax.matmul')(dpl.wildcard(), dpl.wildcard())),
    ('byoc.add_relu', dpl.is_op('relax.nn.relu')(dpl.is_op('relax.add')(dpl.wildcard(), dpl.wildcard())))],
    bind_constants=False)(Module)
after = relax.transform.MergeCompositeFunctions()(mod)
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
