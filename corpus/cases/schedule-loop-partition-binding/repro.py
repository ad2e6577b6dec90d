"""loop_partition defines a block axis twice unless its binding is the loop variable alone

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
    def main(C: T.Buffer((4,), "int32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, 3 - i)
                T.reads()
                T.writes(C[v])
                C[v] = 1

sch = tvm.s_tir.Schedule(Module)
sch.work_on('main')
sch.loop_partition(sch.get_loops(sch.get_sblock("b"))[0], [1, None])
after = sch.mod
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
