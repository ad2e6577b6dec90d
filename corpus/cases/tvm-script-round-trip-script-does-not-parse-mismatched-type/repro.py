"""[TVMScript] TVMScript does not read back what it writes: script does not parse: Mismatched type on argument #4 when...

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
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((n, 4), dtype="float32"), p7: R.Tensor((5, 4), dtype="float32"), v2: R.Tensor((n, 4), dtype="float32"), v3: R.Tensor(("n * 4",), dtype="float32"), v4: R.Tensor(("n * 4",), dtype="float32"), v5: R.Tensor(("n * 4",), dtype="float32"), t11: R.Tuple(R.Tensor((5, 4), dtype="float32")), _9: R.Tuple, v10: R.Tensor((5, 4), dtype="float32")) -> R.Tuple(R.Tensor(("n * 4",), dtype="float32"), R.Tensor(("n * 4",), dtype="float32")):
        R.func_attr({"passfuzz_note": 2})
        v6: R.Tensor((n * 4,), dtype="float32") = R.add(v4, v4)
        v8: R.Tensor((5, 4), dtype="float32") = R.negative(p7)
        return (v5, v4)

mod = relax.transform.LegalizeOps()(Module)
mod = relax.transform.LowerAllocTensor()(mod)
mod = relax.transform.LowerRuntimeBuiltin()(mod)
before = mod
after = relax.transform.VMShapeLower(emit_err_ctx=False)(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
