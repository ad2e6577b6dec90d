"""storage_align of a buffer that nobody reads does not build

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
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4, 4))
        for i, j in T.grid(4, 4):
            with T.sblock("b"):
                v, w = T.axis.remap("SS", [i, j])
                T.reads(A[w])
                T.writes(B[v, w])
                B[v, w] = A[w]
        for i in range(4):
            with T.sblock("c"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(C[v])
                C[v] = A[v]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        return a

def show():
    global status
    mod = relax.transform.LegalizeOps()(Module)
    sch = tvm.s_tir.Schedule(mod)
    sch.work_on('prim')
    sch.storage_align(sch.get_sblock("b"), 0, 0, 8, 2)
    mod = sch.mod
    status = 1  # From here on, an exception is the bug.
    tvm.compile(mod, tvm.target.Target("llvm"))

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
