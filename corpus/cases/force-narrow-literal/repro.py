"""[TIRx] ForceNarrowIndexToInt32 raises ValueError: Check failed: (small.has_value() && (bits == 64 || (*small >=...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from tvm import tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim3(T6: T.Buffer((T.int64(1), T.int64(1)), "float16")):
        x15: T.let[T.int64] = T.int64(0)
        T6[x15 | T.int64(-8589934592), T.int64(0)] = T.float16(2.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim3, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float16"))
        return a

def show():
    global status
    transform = tirx.transform.ForceNarrowIndexToInt32()
    status = 1  # From here on, an exception is the bug.
    transform(Module)

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
