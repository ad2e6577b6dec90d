"""[LLVM] ForceNarrowIndexToInt32 raises InternalError: Check failed: (f) is false: Cannot find intrinsic declaration,...

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
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target("llvm")

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T19: T.Buffer((T.int64(1), T.int64(1)), "float32")):
        T19[T.int64(0), T.int64(0)] = T.Select(T.popcount(T.int64(1)) != T.int64(1), T.float32(1.0), T.float32(-340282346638528859811704183484516925440.0))

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
        return a

def show():
    global status
    mod = relax.transform.LegalizeOps()(Module)
    mod = relax.transform.ToNonDataflow()(mod)
    mod = relax.transform.RemovePurityChecking()(mod)
    mod = relax.transform.CallTIRRewrite()(mod)
    mod = relax.transform.LowerAllocTensor()(mod)
    mod = relax.transform.LowerRuntimeBuiltin()(mod)
    mod = relax.transform.VMShapeLower()(mod)
    mod = relax.transform.AttachGlobalSymbol()(mod)
    with TARGET:
        mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
    mod = s_tir.transform.LowerInitBlock()(mod)
    mod = s_tir.transform.PlanAndUpdateBufferAllocationLocation()(mod)
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    mod = s_tir.transform.CompactBufferAllocation()(mod)
    mod = s_tir.transform.LowerOpaqueBlock()(mod)
    mod = tirx.transform.ForceNarrowIndexToInt32()(mod)
    status = 1  # From here on, an exception is the bug.
    tvm.compile(mod, TARGET)

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
