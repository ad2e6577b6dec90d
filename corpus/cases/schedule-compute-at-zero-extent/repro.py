"""[S-TIR] Schedule[cache_write+compute_at] raises InternalError: Check failed: (!info.dom.IsNothing())

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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T6: T.Buffer((T.int64(0),), "int8")):
        # with T.sblock("root"):
        for i7 in range(T.int64(0)):
            with T.sblock("map4"):
                v5 = T.axis.spatial(T.int64(0), i7)
                T.reads()
                T.writes(T6[v5])
                T6[v5] = T.int8(1)

    @R.function
    def main() -> R.Tensor((0,), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((0,), dtype="int8"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.cache_write(sch.get_sblock("map4"), 0, "global")
    sch.compute_at(sch.get_sblock("map4"), sch.get_loops(sch.get_sblock("T6_global"))[0], index=-2)

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
