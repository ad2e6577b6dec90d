"""[TIRx] StorageRewrite gives wrong numbers

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
    def prim(O: T.Buffer((2,), "int64")):
        A = T.alloc_buffer((2,), "int64")
        B = T.alloc_buffer((2,), "int64")
        A[0] = T.int64(1)
        Y = T.decl_buffer((2,), "int64", data=A.data)
        for i in range(2):
            B[i] = Y[0] - T.int64(1)
        O[0] = B[1]

    @R.function
    def main() -> R.Tensor((2,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2,), dtype="int64"))
        return a

def show():
    mod = tirx.transform.StorageRewrite()(Module)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.full(2, 0, "int64")
    tolerance = np.array([0.0, float("inf")], "float64")
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
