"""[Relax] SplitLayoutRewritePreproc raises InternalError: Check failed: (op->reads.size() == 1) is false: There should...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
from tvm import relax
from tvm import s_tir
from tvm.script import ir as I, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1(W: T.Buffer((1, 1), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((1, 1))
        with T.sblock("rewrite"):
            v_i = T.axis.spatial(1, 0)
            v_j = T.axis.spatial(1, 0)
            T.reads(W[v_j, v_i])
            T.writes(rewrite[v_i, v_j])
            T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
            rewrite[v_i, v_j] = W[v_j, v_i]

def show():
    mod = s_tir.transform.RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(Module)
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
