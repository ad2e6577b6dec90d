"""[Relax] SplitLayoutRewritePreproc raises InternalError: Check failed: (buffer_index != -1) is false: The preproc...

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
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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
    global status
    mod = relax.transform.AnnotateTIROpPattern()(Module)
    mod = relax.transform.FuseOps()(mod)
    mod = relax.transform.FuseTIR()(mod)
    transform = relax.transform.SplitLayoutRewritePreproc()
    status = 1  # From here on, an exception is the bug.
    transform(mod)

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
