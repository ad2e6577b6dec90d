"""[DLight] gpu.GeneralReduction raises ValueError: Check failed: (!loop_rvs.empty()) is false: 'fuse' requires at...

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
    def prim1(R20: T.Buffer((T.int64(2),), "bfloat16"), N28: T.Buffer((T.int64(2), T.int64(2), T.int64(2)), "float16")):
        # with T.sblock("root"):
        for i21, i22, i23 in T.grid(T.int64(2), T.int64(2), T.int64(2)):
            with T.sblock("red16"):
                k17, v18, k19 = T.axis.remap("RSR", [i21, i22, i23])
                T.reads()
                T.writes(R20[v18])
                with T.init():
                    R20[v18] = T.bfloat16(340282346638528859811704183484516925440.0)
                T.evaluate(0)
        for i29, i30, i31 in T.grid(T.int64(1), T.int64(1), T.int64(1)):
            with T.sblock("special24"):
                v25, v26, v27 = T.axis.remap("SSS", [i29, i30, i31])
                T.reads()
                T.writes(N28[v25, v26, v27])
                N28[v25, v26, v27] = T.float16(1.0)

    @R.function
    def main() -> R.Tuple(R.Tensor((2,), dtype="bfloat16"), R.Tensor((2, 2, 2), dtype="float16")):
        cls = Module
        a = R.call_tir(cls.prim1, R.tuple(), out_ty=[R.Tensor((2,), dtype="bfloat16"), R.Tensor((2, 2, 2), dtype="float16")])
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
