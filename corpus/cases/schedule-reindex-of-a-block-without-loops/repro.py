"""[S-TIR] Schedule[reindex] crashes in s_tir::ReIndex

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(N8: T.Buffer((1,), "float64")):
        # with T.sblock("root"):
        with T.sblock("special6"):
            v7 = T.axis.spatial(1, 0)
            T.reads()
            T.writes(N8[v7])
            N8[v7] = T.float64(1.0)

    @R.function
    def main() -> R.Tensor((1,), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1,), dtype="float64"))
        return a

def show():
    transform = tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('prim'),
        sch.reindex(sch.get_sblock("special6"), ("write", 0)), sch.mod)[-1], opt_level=0)
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
