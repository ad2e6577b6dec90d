"""[S-TIR] Schedule[reverse_compute_at+blockize] raises InternalError: Check failed:...

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
    def prim(T16: T.Buffer((T.int64(1), T.int64(1)), "int64")):
        # with T.sblock("root"):
        T10 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)), "int64")
        for i11, i12 in T.grid(T.int64(1), T.int64(1)):
            with T.sblock("reshape7"):
                v8, v9 = T.axis.remap("SS", [i11, i12])
                T.reads()
                T.writes(T10[v9, v8])
                T10[v9, v8] = T.int64(1)
        with T.sblock("pad13"):
            v14 = T.axis.spatial(T.int64(1), T.int64(0))
            v15 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T16[v14, v15])
            T16[v14, v15] = T.int64(1)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="int64"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.reverse_compute_at(sch.get_sblock("pad13"), sch.get_loops(sch.get_sblock("reshape7"))[1], index=-2)
    sch.blockize([sch.get_sblock("reshape7"), sch.get_sblock("pad13")])

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
