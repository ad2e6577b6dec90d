"""storage_align of a buffer that nobody reads does not build

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((4, 4))
        for i, j in T.grid(4, 4):
            with T.sblock("b"):
                v, w = T.axis.remap("SS", [i, j])
                T.reads(A[w])
                T.writes(B[v, w])
                B[v, w] = A[w]
        for i in range(4):
            with T.sblock("c"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(C[v])
                C[v] = A[v]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        return a

def show():
    mod = relax.transform.LegalizeOps()(Module)
    mod = tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('prim'),
        sch.storage_align(sch.get_sblock("b"), 0, 0, 8, 2), sch.mod)[-1], opt_level=0)(mod)
    status[0] = 1  # From here on, an exception is the bug.
    tvm.compile(mod, tvm.target.Target("llvm"))

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
