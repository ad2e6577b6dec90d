"""[S-TIR] StmtSimplify raises TypeError: Check failed: (a_ty->dtype == b_ty->dtype) is false: mismatched types. int32...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm import s_tir
from tvm.script import ir as I, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A1: T.Buffer((T.int64(1), T.int64(1)), "float32"), T19: T.Buffer((T.int64(1), T.int64(2)), "float32")):
        # with T.sblock("root"):
        for i21 in range(T.int64(2)):
            with T.sblock("map16"):
                v17 = T.axis.spatial(T.int64(1), T.int64(0))
                v18 = T.axis.spatial(T.int64(2), i21)
                T.reads(A1[v18 + T.int64(-1), v18])
                T.writes(T19[v17, v18])
                T19[v17, v18] = T.if_then_else(T.int64(0) <= v18 + T.int64(-1), A1[v18 + T.int64(-1), v18], T.float32(0.0))

def show():
    mod = tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('prim'),
        sch.cache_index(sch.get_sblock("map16"), "local", 0), sch.mod)[-1], opt_level=0)(Module)
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    transform = s_tir.transform.StmtSimplify()
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
