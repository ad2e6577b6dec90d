"""[Relax] SplitLayoutRewritePreproc raises InternalError: Check failed: (buffer_index != -1) is false: The preproc...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1(W: T.Buffer((4, 4), "float32"), compute: T.Buffer((4, 4), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((4, 4))
        for i, j in T.grid(1, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(W[v_j, v_i])
                T.writes(rewrite[v_i, v_j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                rewrite[v_i, v_j] = W[v_j, v_i]

    @T.prim_func(private=True, s_tir=True)
    def prim2(W: T.Buffer((4, 4), "float32"), compute: T.Buffer((4, 4), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((4, 4))
        for i, j in T.grid(1, 1):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(W[v_j, v_i])
                T.writes(rewrite[v_i, v_j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                rewrite[v_i, v_j] = W[v_j, v_i]

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((4, 4), dtype="float32"))
            b = R.call_tir(cls.prim2, (a,), out_ty=R.Tensor((4, 4), dtype="float32"))
            R.output(b)
        return b

Module["prim2"] = Module["prim1"]

def show():
    mod = relax.transform.AnnotateTIROpPattern()(Module)
    mod = relax.transform.FuseOps()(mod)
    mod = relax.transform.FuseTIR()(mod)
    transform = relax.transform.SplitLayoutRewritePreproc()
    status[0] = 1  # From here on, an exception is the bug.
    transform(mod)

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
