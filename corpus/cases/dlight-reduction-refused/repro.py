"""[DLight] gpu.Reduction raises ScheduleError: An error occurred in the schedule primitive 'set-scope': The input...

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
    def prim1(W2: T.Buffer((T.int64(1), T.int64(1)), "int32"), R7: T.Buffer((T.int64(1), T.int64(1)), "int32"), R15: T.Buffer((T.int64(1), T.int64(1)), "int64")):
        # with T.sblock("root"):
        for i8, i9, i10 in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("mm3"):
                v4, v5, k6 = T.axis.remap("SSR", [i8, i9, i10])
                T.reads(W2[k6, v5])
                T.writes(R7[v4, v5])
                with T.init():
                    R7[v4, v5] = 0
                R7[v4, v5] = R7[v4, v5] + W2[k6, v5]
        for i16, i17, i18 in T.grid(T.int64(1), T.int64(1), T.int64(1)):
            with T.sblock("red11"):
                v12, v13, k14 = T.axis.remap("SSR", [i16, i17, i18])
                T.reads()
                T.writes(R15[v12, v13])
                with T.init():
                    R15[v12, v13] = T.int64(0)
                T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="int32")) -> R.Tuple(R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int64")):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=[R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int64")])
        return a

def show():
    global status
    transform = tvm.transform.module_pass(lambda mod, ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Reduction())(mod.clone()),
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
