"""[TIR] FlattenBuffer gives wrong numbers

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
import numpy as np
import tvm
from tvm import relax
from tvm import tirx
from tvm.runtime import tensor
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(V1: T.Buffer((T.int64(2),), "int8"), O10: T.Buffer((T.int64(2), T.int64(2)), "bool")):
        for i7 in range(T.int64(1), T.int64(3)):
            O10[T.int64(0), T.int64(0)] = T.int16(1) <= T.Cast("int16", V1[i7 // T.int64(-1) % T.int64(2)])

    @R.function
    def main(x: R.Tensor((2,), dtype="int8")) -> R.Tensor((2, 2), dtype="bool"):
        cls = Module
        a = R.call_tir(cls.prim2, (x,), out_ty=R.Tensor((2, 2), dtype="bool"))
        return a

def show():
    mod = tirx.transform.FlattenBuffer()(Module)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"](tensor(np.array([0, 1], "int8"))).numpy()
    want = np.full((2, 2), False, "bool")
    tolerance = np.array([[0.0, float("inf")], [float("inf"), float("inf")]], "float64")
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
