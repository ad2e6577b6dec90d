"""[Relax] VMShapeLower gives different results in different processes: another process, with another hash seed and...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from typing import TypeVar
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, n, 2), dtype="float32"), y: R.Tensor((1, n, 2), dtype="float32")) -> R.Tensor((1, n, 2), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1, n, 2), dtype="float32") = R.abs(x)
            b: R.Tensor((1, n, 2), dtype="float32") = R.add(a, x)
            R.output(b)
        return b

mod = relax.transform.LegalizeOps()(Module)
mod = relax.transform.CallTIRRewrite()(mod)
mod = relax.transform.StaticPlanBlockMemory()(mod)
mod = relax.transform.LowerAllocTensor()(mod)
before = mod
after = relax.transform.VMShapeLower(emit_err_ctx=False)(before)
import subprocess
from tvm_ffi import structural_hash

found, copies = set(), [tvm.ir.load_json(tvm.ir.save_json(before)) for _ in range(40)]
for given in copies:
    again = relax.transform.VMShapeLower(emit_err_ctx=False)(given)
    found.add(structural_hash(again, map_free_vars=True))
if "SAY_HASH" in os.environ:
    sys.exit(print(*found))
assert len(found) == 1, "equal modules at other addresses give different results"
# This script runs itself again with other seeds of Python's hashes.
for seed in range(8):
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "SAY_HASH": "1"}
    again = subprocess.run([sys.executable, __file__], env=environment, stdout=subprocess.PIPE, text=True)
    others = {int(word) for word in again.stdout.split()} if again.returncode == 0 else set()
    assert others <= found, f"a process with PYTHONHASHSEED={seed} gives another module"
print("the bug is gone", flush=True)
