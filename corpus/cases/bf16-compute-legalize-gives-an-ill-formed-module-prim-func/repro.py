"""[TIR] BF16ComputeLegalize gives an ill-formed module: PrimFunc unused: InternalError: ValueError: TIR is ill-formed,...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, tirx
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def unused(A2: T.Buffer((1, 1), "int32"), T3: T.Buffer((1, 1), "bfloat16")):
        x14 = T.int32()
        T3[0, 0] = T.Cast("bfloat16", T.Let(1, where={x14: A2[0, 0]}))

after = tirx.transform.BF16ComputeLegalize()(Module)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
