"""[S-TIR] Schedule[transform_layout] gives wrong numbers

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(C: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((1, 1), "int32")
        for i in range(1):
            for j in range(1):
                with T.sblock("b"):
                    v, w = T.axis.remap("SS", [i, j])
                    T.reads()
                    T.writes(B[v, w])
                    B[v, w] = 1
            C[i] = 1234567

    @R.function
    def main() -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="int32"))
        return a

def show():
    mod = tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('prim'),
        sch.transform_layout(sch.get_sblock("b"), ("write", 0), lambda i, j: (i, j // 2, j % 2), pad_value=0),
        sch.mod)[-1], opt_level=0)(Module)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.array([1234567], "int32")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
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
