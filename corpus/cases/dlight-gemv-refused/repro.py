"""[Relax] ApplyDefaultSchedule raises ScheduleError: An error occurred in the schedule primitive 'rfactor': No matched...

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
    def prim(A1: T.Buffer((T.int64(2), T.int64(2)), "float32"), W10: T.Buffer((T.int64(2), T.int64(1)), "float32"), R15: T.Buffer((T.int64(2), T.int64(1)), "float32")):
        # with T.sblock("root"):
        for i16, i17, i18 in T.grid(T.int64(2), T.int64(1), T.int64(2)):
            with T.sblock("mm11"):
                v12, v13, k14 = T.axis.remap("SSR", [i16, i17, i18])
                T.reads(A1[v12, k14], W10[k14, v13])
                T.writes(R15[v12, v13])
                with T.init():
                    R15[v12, v13] = T.float32(3.0)
                R15[v12, v13] = R15[v12, v13] + A1[v12, k14] * W10[k14, v13]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32"), y: R.Tensor((2, 1), dtype="float32")) -> R.Tensor((2, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((2, 1), dtype="float32"))
        return a

def show():
    global status
    transform = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
        tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), tvm.s_tir.dlight.gpu.Fallback())
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
