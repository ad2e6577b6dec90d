"""[S-TIR] Schedule[compute_at+sample_compute_location+decompose_padding] raises InternalError: Check failed:...

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
    def prim(A1: T.Buffer((T.int64(2), T.int64(2)), "bool"), T11: T.Buffer((T.int64(2), T.int64(2)), "bool")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((T.int64(2), T.int64(2)), "bool")
        with T.sblock("copy2"):
            T.reads(A1[T.int64(0), T.int64(0)])
            T.writes(T5[T.int64(0), T.int64(0)])
            T5[T.int64(0), T.int64(0)] = A1[T.int64(0), T.int64(0)]
        for i12, i13 in T.grid(T.int64(1), T.int64(2)):
            with T.sblock("map8"):
                v10 = T.axis.spatial(T.int64(2), i13)
                T.reads(T5[T.int64(0), T.int64(0)])
                T.writes(T11[T.int64(0), v10])
                T11[T.int64(0), v10] = T5[T.int64(0), T.int64(0)]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="bool")) -> R.Tensor((2, 2), dtype="bool"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 2), dtype="bool"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.compute_at(sch.get_sblock("copy2"), sch.sample_compute_location(sch.get_sblock("copy2"), decision=1))
    sch.decompose_padding(sch.get_sblock("map8"), sch.get_loops(sch.get_sblock("map8"))[0])

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
