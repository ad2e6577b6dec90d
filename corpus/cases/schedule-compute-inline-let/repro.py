"""compute_inline into two blocks defines the variable of a Let twice

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
    def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4,), "int32")
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(B[v])
                x = T.int32()
                B[v] = T.Let(x * x, where={x: A[v]})
        for i in range(4):
            with T.sblock("c"):
                v = T.axis.spatial(4, i)
                T.reads(B[v])
                T.writes(C[v])
                C[v] = B[v]
        for i in range(4):
            with T.sblock("d"):
                v = T.axis.spatial(4, i)
                T.reads(B[v])
                T.writes(D[v])
                D[v] = B[v]

sch = tvm.s_tir.Schedule(Module)
sch.work_on('main')
sch.compute_inline(sch.get_sblock("b"))
after = sch.mod
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
