"""[TIR] FlattenBuffer changes its own result when it is applied again: second application changes a function

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
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, n), dtype="int32")) -> R.Tensor(("n * 2", n), dtype="int32"):
        a: R.Tensor((n * 2, n), dtype="int32") = R.concat((x, x), axis=0)
        return a

mod = relax.transform.LegalizeOps()(Module)
mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
after = tirx.transform.FlattenBuffer()(mod)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

again = tirx.transform.FlattenBuffer()(after)
assert not mismatch(after, again), f"the second application changes the module: {mismatch(after, again)}"
print("the bug is gone", flush=True)
