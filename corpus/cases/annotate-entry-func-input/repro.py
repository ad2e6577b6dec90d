"""AnnotateEntryFunc changes the module that it is given

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
    def main(A: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        for i in range(4):
            with T.sblock("b"):
                T.reads()
                T.writes(A[i])
                A[i] = T.float32(0.0)

before = Module
text = before.script(show_meta=True)
after = tvm.tirx.transform.AnnotateEntryFunc()(before)
assert before.script(show_meta=True) == text, "the pass changed the module that it was given"
print("the bug is gone", flush=True)
