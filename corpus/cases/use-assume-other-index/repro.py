"""[S-TIR] UseAssumeToReduceBranches gives wrong numbers for tir.assume, tir.if_then_else

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
from tvm import relax, s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T14: T.Buffer((T.int64(1), T.int64(6)), "int16")):
        T.func_attr({"op_pattern": 1})
        T9 = T.alloc_buffer((T.int64(1), T.int64(6)), "int16")
        for i11 in range(T.int64(6)):
            T9[T.int64(0), i11] = T.if_then_else(i11 < T.int64(1), T.int16(1), T.int16(0))
        for i12, i13 in T.grid(T.int64(1), T.int64(6)):
            T.assume(i13 < T.int64(1) or T9[i12, i13] == T.int16(0))
        for i15, i16 in T.grid(T.int64(1), T.int64(6)):
            T14[i15, i16] = T.if_then_else(T.int64(1) <= i16, T.int16(-1), T9[i15, T.int64(0)] - T.int16(1))

    @R.function
    def main() -> R.Tensor((1, 6), dtype="int16"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 6), dtype="int16"))
        return a

def show():
    mod = s_tir.transform.UseAssumeToReduceBranches()(Module)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.array([[0, -1, -1, -1, -1, -1]], "int16")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
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
