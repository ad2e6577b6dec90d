"""reindex dies on a block that compute_at has put beside another one

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm.script import ir as I, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((1,), "int32"), C: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((1,), "int32")
        with T.sblock("b"):
            v = T.axis.spatial(1, 0)
            T.reads(A[v])
            T.writes(B[v])
            B[v] = A[v]
        for i in range(1):
            with T.sblock("c"):
                v = T.axis.spatial(1, i)
                T.reads(B[v])
                T.writes(C[v])
                C[v] = B[v]

def show():
    transform = tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('main'),
        sch.compute_at(sch.get_sblock("b"), sch.get_loops(sch.get_sblock("c"))[0], preserve_unit_loops=True),
        sch.reindex(sch.get_sblock("b"), ("read", 0)), sch.mod)[-1], opt_level=0)
    status[0] = 1  # From here on, an exception is the bug.
    transform(Module)

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
