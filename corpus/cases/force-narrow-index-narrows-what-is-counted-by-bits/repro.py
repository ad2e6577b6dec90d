"""[TIRx] ForceNarrowIndexToInt32 gives wrong numbers for tir.popcount

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
import numpy as np
import tvm
from tvm import relax
from tvm import tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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
at_end = mmap.mmap(-1, 1)  # The child says here that it came to its end.
if child := os.fork():  # The parent waits: a native crash, an exit or a hang is an answer too.
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(code if at_end[0] else print("killed by signal" if code < 0 else "exit", abs(code)) or 1)
sys.excepthook = lambda *why: (at_end.__setitem__(0, 1), hook(*why))
leave = lambda status: (at_end.__setitem__(0, 1), os._exit(status))
signal.alarm(120)
show()
leave(print("the bug is gone", flush=True) or 0)
