"""[S-TIR] InjectVirtualThread raises TypeError: Check failed: (a_ty->dtype == b_ty->dtype) is false: mismatched types....

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from typing import TypeVar
from tvm import s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((n,), "int32"), B: T.Buffer((n,), "int32")):
        for i in range(n):
            if i * T.int64(2) < n:
                if T.likely(i > T.int64(0)):
                    B[i] = A[i]
            else:
                B[i] = 7

    @R.function
    def main(x: R.Tensor((n,), dtype="int32")) -> R.Tensor((n,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((n,), dtype="int32"))
        return a

def show():
    global status
    mod = s_tir.transform.LoopPartition()(Module)
    transform = s_tir.transform.InjectVirtualThread()
    status = 1  # From here on, an exception is the bug.
    transform(mod)

os.environ.setdefault("TVM_NUM_THREADS", "1")
child = os.fork()
if child == 0:
    signal.alarm(120)
    show()
    print("the bug is gone", flush=True)
    finished[0] = 1
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # A native crash, an exit or a hang is an answer too.
if not finished[0]:
    print("killed by signal" if code < 0 else "exit", abs(code))
sys.exit(code if finished[0] else 1)
