"""[TVMScript] TVMScript does not read back what it writes: script parses to another module: what is computed comes back folded

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import s_tir
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim():
        T7 = T.alloc_local((T.int64(4), T.int64(5)), "int64")
        T7[T.int64(0), T.int64(0)] = T.Max(T.Cast("int64", T.Mod(1, 1)), T.int64(1) >> T.BitwiseAnd(T.int64(0), T.int64(3)))

before = Module
after = s_tir.transform.RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
