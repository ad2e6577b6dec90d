"""[S-TIR] DefaultGPUSchedule raises InternalError: Check failed: (p != nullptr)

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
    def prim1(A: T.Buffer((3, 1), "float32"), compute: T.Buffer((3, 1), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((3, 1))
        for i, j in T.grid(3, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(rewrite[v_i, v_j])
                rewrite[v_i, v_j] = T.float32(1.0)
        for i in range(3):
            with T.sblock("compute"):
                v_i = T.axis.spatial(3, i)
                v_j = T.axis.spatial(1, 0)
                T.reads(A[v_i, v_j], rewrite[v_i, v_j])
                T.writes(compute[v_i, v_j])
                compute[v_i, v_j] = A[v_i, v_j] - rewrite[v_i, v_j]

    @T.prim_func(private=True, s_tir=True)
    def prim2(A: T.Buffer((3, 1), "float32"), compute: T.Buffer((3, 1), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((3, 1))
        for i, j in T.grid(3, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(rewrite[v_i, v_j])
                rewrite[v_i, v_j] = T.float32(1.0)
        for i in range(3):
            with T.sblock("compute"):
                v_i = T.axis.spatial(3, i)
                v_j = T.axis.spatial(1, 0)
                T.reads(A[v_i, v_j], rewrite[v_i, v_j])
                T.writes(compute[v_i, v_j])
                compute[v_i, v_j] = A[v_i, v_j] - rewrite[v_i, v_j]

    @R.function
    def main(x: R.Tensor((3, 1), dtype="float32")) -> R.Tensor((3, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((3, 1), dtype="float32"))
        b = R.call_tir(cls.prim2, (a,), out_ty=R.Tensor((3, 1), dtype="float32"))
        return b

Module["prim2"] = Module["prim1"]

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
