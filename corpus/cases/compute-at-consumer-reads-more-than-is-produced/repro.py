"""[DLight] cpu.Reduction raises InternalError: Check failed: (required.CanProveSinglePoint(analyzer_ref) &&...

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
    def padded(B: T.Buffer((2,), "int64")):
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((1,), "int64")
        for i, j in T.grid(1, 2):
            with T.sblock("sum"):
                v, k = T.axis.remap("SR", [i, j])
                T.reads()
                T.writes(S[v])
                with T.init():
                    S[v] = T.int64(0)
                T.evaluate(0)
        for i in range(2):
            with T.sblock("pad"):
                v = T.axis.spatial(2, i)
                T.reads(S[v])
                T.writes(B[v])
                B[v] = T.if_then_else(v < 1, S[v], T.int64(7))

    @R.function
    def main() -> R.Tensor((2,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.padded, R.tuple(), out_ty=R.Tensor((2,), dtype="int64"))
        return a

def show():
    global status
    transform = tvm.transform.module_pass(lambda mod, ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.cpu.Reduction())(mod.clone()),
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
