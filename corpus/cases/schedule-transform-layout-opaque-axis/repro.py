"""transform_layout with padding uses a loop variable in a block with an opaque axis

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
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((1,), "int32")
        for i in range(1):
            with T.sblock("b"):
                v = T.axis.opaque(1, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = A[v]

sch = tvm.s_tir.Schedule(Module)
sch.work_on('main')
sch.transform_layout(sch.get_sblock("b"), ("write", 0), lambda i: (i // 4, i % 4), pad_value=0)
after = sch.mod
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
