"""[S-TIR] Schedule[reverse_compute_at+blockize] raises InternalError: Check failed: (finder->result != nullptr) is...

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
    def prim(T9: T.Buffer((1,), "float32")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((1,))
        for i6 in range(1):
            with T.sblock("map3"):
                v4 = T.axis.spatial(1, i6)
                T.reads()
                T.writes(T5[v4])
                T5[v4] = T.float32(1.0)
        with T.sblock("map7"):
            v8 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(T9[v8])
            T9[v8] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="float32"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.reverse_compute_at(sch.get_sblock("map7"), sch.get_loops(sch.get_sblock("map3"))[0])
    sch.blockize([sch.get_sblock("map3"), sch.get_sblock("map7")])

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
