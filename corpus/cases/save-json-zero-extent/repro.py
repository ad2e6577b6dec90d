"""[Relax] tvm.ir.save_json does not read back what it writes: JSON does not load: Check failed: (read_ret) is false:...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 0), dtype="int32")) -> R.Tensor((1, 0), dtype="int32"):
        a: R.Tensor((1, 0), dtype="int32") = R.slice_scatter(x, R.const(np.zeros((1, 0), "int32"), "int32"), 2, 3, 1, axis=0)
        return a

before = Module
after = relax.transform.LegalizeOps()(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
