"""cache_read keeps the strides of a match_buffer outside of its block

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
    def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        for i in range(1):
            with T.sblock("o"):
                v = T.axis.spatial(1, i)
                T.reads(A[0:4])
                T.writes(C[0:4])
                M = T.match_buffer(A[0:4], (4,), "int32", strides=("s",), offset_factor=1)
                for j in range(4):
                    with T.sblock("b"):
                        w = T.axis.spatial(4, j)
                        T.reads(M[w])
                        T.writes(C[w])
                        C[w] = M[w]

sch = tvm.s_tir.Schedule(Module)
sch.work_on('main')
sch.cache_read(sch.get_sblock("b"), 0, "global")
after = sch.mod
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
