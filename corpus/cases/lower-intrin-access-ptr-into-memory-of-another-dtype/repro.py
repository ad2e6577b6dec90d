"""[TIRx] LowerIntrin raises InternalError: Check failed: source_buffer->dtype.WithLanes(1) == scalar_dtype (T.int16...

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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T6: T.Buffer((T.int64(2), T.int64(2), T.int64(2)), "int16")):
        T6[T.int64(0), T.int64(0), T.int64(0)] = T.int16(1)
        T12 = T.alloc_buffer((T.int64(2), T.int64(2), T.int64(2)), "int16")
        for i13, i14, i15 in T.grid(T.int64(2), T.int64(2), T.int64(2)):
            T12[i13, i14, i15] = T.int16(1)
        T16 = T.alloc_buffer((T.int64(2),), "float64")
        T16[T.int64(0)] = T.float64(-3.0)
        Y18 = T.decl_buffer((T.int64(2),), "float64", data=T.tvm_access_ptr(T.float64(1.0), T16.data, T.int64(0), T.int64(2), 3))

    @R.function
    def main() -> R.Tensor((2, 2, 2), dtype="int16"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2, 2, 2), dtype="int16"))
        return a

def show():
    global status
    with tvm.target.Target("llvm"):
        mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(Module)
    mod = tirx.transform.FlattenBuffer()(mod)
    mod = tirx.transform.StorageRewrite()(mod)
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
