"""[DLight] cpu.GEMV raises AssertionError

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
    def prim(A1: T.Buffer((T.int64(1), T.int64(2)), "int8"), W8: T.Buffer((T.int64(2), T.int64(1)), "int8"), R13: T.Buffer((T.int64(2), T.int64(2)), "int32")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "int8")
        for i6, i7 in T.grid(T.int64(2), T.int64(1)):
            with T.sblock("map2"):
                v3, v4 = T.axis.remap("SS", [i6, i7])
                T.reads(A1[v4, 0:T.int64(2)])
                T.writes(T5[v3, v4])
                T5[v3, v4] = A1[v4, ~T.int64(-2)]
        for i14, i15, i16 in T.grid(T.int64(2), T.int64(2), T.int64(1)):
            with T.sblock("mm9"):
                v10, v11, k12 = T.axis.remap("SSR", [i14, i15, i16])
                T.reads(T5[v10, k12], W8[v11, k12])
                T.writes(R13[v10, v11])
                with T.init():
                    R13[v10, v11] = 0
                R13[v10, v11] = R13[v10, v11] + T.Cast("int32", T5[v10, k12]) * T.Cast("int32", W8[v11, k12])

    @R.function
    def main(x: R.Tensor((1, 2), dtype="int8"), y: R.Tensor((2, 1), dtype="int8")) -> R.Tensor((2, 2), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((2, 2), dtype="int32"))
        return a

def show():
    global status
    transform = tvm.transform.module_pass(lambda mod, ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.cpu.GEMV())(mod.clone()),
        opt_level=0)
    status = 1  # From here on, an exception is the bug.
    with tvm.target.Target("llvm"):
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
