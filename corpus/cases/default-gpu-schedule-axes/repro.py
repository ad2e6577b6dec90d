"""[S-TIR] DefaultGPUSchedule raises InternalError: Check failed: (loops.size() == iters.size() || (loops.size() == 0...

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
import tvm
from tvm import s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dead_prim(T6: T.Buffer((1, 1), "float16")):
        # with T.sblock("root"):
        for i7, i8 in T.grid(1, 1):
            for i9 in range(-3, -2):
                with T.sblock("pad3"):
                    v4 = T.axis.spatial(1, 0)
                    v5 = T.axis.spatial(1, 0)
                    T.where(T.LT(0, 1))
                    T.reads()
                    T.writes(T6[v4, v5])
                    T6[v4, v5] = T.float16(1.0)

    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        return x

def show():
    global status
    transform = s_tir.transform.DefaultGPUSchedule()
    status = 1  # From here on, an exception is the bug.
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
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
