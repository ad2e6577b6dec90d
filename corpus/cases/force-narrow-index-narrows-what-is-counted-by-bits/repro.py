"""[TIRx] ForceNarrowIndexToInt32 gives wrong numbers for tir.popcount

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T3: T.Buffer((T.int64(1), T.int64(3)), "int8")):
        T3[T.int64(0), T.popcount(T.int64(-5)) % T.int64(3)] = T.int8(1)

    @R.function
    def main() -> R.Tensor((1, 3), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 3), dtype="int8"))
        return a

def show():
    mod = tirx.transform.ForceNarrowIndexToInt32()(Module)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.array([[1, 0, 0]], "int8")
    tolerance = np.array([[0.0, float("inf"), float("inf")]], "float64")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    tolerance = np.broadcast_to(tolerance, want.shape)
    defined = np.isfinite(tolerance)  # Elsewhere any value is right.
    got, want, tolerance = got[defined], want[defined], tolerance[defined]
    wrong = got != want
    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"

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
