"""A second primitive in an inner block changes the module that was given to the schedule

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        # with T.sblock("root"):
        for i in range(2):
            with T.sblock("tile"):
                vo = T.axis.spatial(2, i)
                T.reads(A[vo * 4:vo * 4 + 4])
                T.writes(C[vo * 4:vo * 4 + 4])
                for j in range(4):
                    with T.sblock("inner"):
                        vi = T.axis.spatial(4, j)
                        T.reads(A[vo * 4 + vi])
                        T.writes(C[vo * 4 + vi])
                        C[vo * 4 + vi] = A[vo * 4 + vi]

before = Module
text = before.script(show_meta=True)
sch = tvm.s_tir.Schedule(before)
sch.work_on('main')
sch.unroll(sch.get_loops(sch.get_sblock("tile"))[0])
sch.unroll(sch.get_loops(sch.get_sblock("inner"))[0])
after = sch.mod
assert before.script(show_meta=True) == text, "the pass changed the module that it was given"
print("the bug is gone", flush=True)
