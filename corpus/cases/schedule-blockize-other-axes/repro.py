"""[S-TIR] Schedule[blockize] raises IndexError: Index 2 out of bounds 2

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
    def prim(T18: T.Buffer((1, 1, 1), "int8")):
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((1, 1), "int32")
        with T.sblock("update9"):
            v10 = T.axis.spatial(1, 0)
            v11 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(T6[v10, v11])
            T6[v10, v11] = 1
        with T.sblock("map14"):
            v15 = T.axis.spatial(1, 0)
            v16 = T.axis.spatial(1, 0)
            v17 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(T18[v15, v16, v17])
            T18[v15, v16, v17] = T.int8(1)

    @R.function
    def main() -> R.Tensor((1, 1, 1), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1, 1), dtype="int8"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.blockize([sch.get_sblock("update9"), sch.get_sblock("map14")])

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
