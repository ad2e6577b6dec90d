"""[TIR] LowerIntrin raises ValueError: Check failed: (value_ty.MatchesCode(DLDataTypeCode::kDLInt,...

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
from tvm import tirx
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A1: T.Buffer((T.int64(1), T.int64(2)), "uint8")):
        x8: T.let[T.float64] = T.Cast("float64", A1[T.int64(0), T.int64(0)])
        for i10 in range(T.int64(3), T.int64(5)):
            if x8 * T.Cast("float64", i10) > x8:
                T.evaluate(0)
            if x8 * T.Cast("float64", i10) > x8:
                T.evaluate(0)

def show():
    global status
    with tvm.target.Target("llvm"):
        mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(Module)
    mod = tirx.transform.CommonSubexprElim()(mod)
    transform = tirx.transform.LowerIntrin()
    status = 1  # From here on, an exception is the bug.
    transform(mod)

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
