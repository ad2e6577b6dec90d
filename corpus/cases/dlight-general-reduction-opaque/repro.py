"""[DLight] gpu.GeneralReduction raises ScheduleError: An error occurred in the schedule primitive...

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
    def prim(R4: T.Buffer((), "float32"), S10: T.Buffer((T.int64(2),), "float32")):
        # with T.sblock("root"):
        for i5 in range(T.int64(2)):
            with T.sblock("red2"):
                k3 = T.axis.reduce(T.int64(2), i5)
                T.reads()
                T.writes(R4[()])
                with T.init():
                    R4[()] = T.float32(1.0)
                T.evaluate(0)
        for i13 in range(T.int64(2)):
            with T.sblock("scan11"):
                o12 = T.axis.opaque(T.int64(2), i13)
                T.reads(S10[T.int64(0)])
                T.writes(S10[o12])
                S10[o12] = T.float32(1.0)

    @R.function
    def main() -> R.Tuple(R.Tensor((), dtype="float32"), R.Tensor((2,), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((), dtype="float32"), R.Tensor((2,), dtype="float32")])
        return a

def show():
    global status
    transform = tvm.transform.module_pass(lambda mod, ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.GeneralReduction())(mod.clone()),
        opt_level=0)
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
