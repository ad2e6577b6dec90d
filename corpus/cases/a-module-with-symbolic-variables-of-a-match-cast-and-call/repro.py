"""[TVMScript] TVMScript does not read back what it writes: script does not parse: Cannot redefine a non-PrimType...

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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)) -> R.Tensor(dtype="float32", ndim=2):
        s2 = T.int64()
        a: R.Tensor((1, s2), dtype="float32") = R.match_cast(x, R.Tensor((1, s2), dtype="float32"))
        b: R.Tensor((1, s2), dtype="float32") = R.negative(a)
        return a

mod = relax.transform.LegalizeOps()(Module)
before = mod
after = relax.transform.SpecializePrimFuncBasedOnCallSite()(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
