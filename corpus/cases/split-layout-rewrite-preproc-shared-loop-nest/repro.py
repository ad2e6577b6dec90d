"""[Relax] SplitLayoutRewritePreproc raises InternalError: Check failed: (!is_layout_rewrite_preproc) is false: There...

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
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(X: T.Buffer((2, 2), "float32"), W: T.Buffer((2, 2), "float32"), O: T.Buffer((2, 2), "float32")):
        # with T.sblock("root"):
        rewrite = T.sblock_alloc_buffer((2, 2))
        for i, j in T.grid(2, 2):
            with T.sblock("rewrite"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(W[v_j, v_i])
                T.writes(rewrite[v_i, v_j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                rewrite[v_i, v_j] = W[v_j, v_i]
        for i, j in T.grid(2, 2):
            with T.sblock("compute"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(X[v_i, v_j], rewrite[v_i, v_j])
                T.writes(O[v_i, v_j])
                O[v_i, v_j] = X[v_i, v_j] + rewrite[v_i, v_j]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="float32"), w: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim2, (x, w), out_ty=R.Tensor((2, 2), dtype="float32"))
        return a

def show():
    global status
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
        mod = tvm.transform.module_pass(lambda mod, ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Transpose())(mod.clone()),
            opt_level=0)(Module)
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
