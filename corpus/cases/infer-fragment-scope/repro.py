"""[S-TIR] InferFragment gives an ill-formed module: PrimFunc prim: InternalError: ValueError: Invalid use of undefined...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm import relax
from tvm import s_tir
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

# TVMScript cannot say this module exactly; Module.show() prints what it can.
with open(os.path.join(os.path.dirname(__file__), "module.json"), encoding="utf-8") as file:
    Module = tvm.ir.load_json(file.read())

mod = s_tir.transform.LowerOpaqueBlock()(Module)
after = s_tir.transform.InferFragment()(mod)
status[0] = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
