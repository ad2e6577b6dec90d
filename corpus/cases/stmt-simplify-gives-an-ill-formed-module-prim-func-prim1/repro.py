"""[S-TIR] StmtSimplify gives an ill-formed module: PrimFunc prim1: InternalError: ValueError: TIR is ill-formed, due...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, s_tir
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1():
        # with T.sblock("root"):
        T9 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)))
        for i11 in range(T.int64(2)):
            x8 = T.float32()
            x10: T.let[T.float32] = T.Let(T.float32(1.0), where={x8: T.Cast("float32", i11)})
            T9[i11, T.int64(0)] = x10

after = s_tir.transform.StmtSimplify()(Module)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
