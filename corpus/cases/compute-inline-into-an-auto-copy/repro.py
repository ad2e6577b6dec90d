"""[S-TIR] Schedule[write_at+compute_inline] raises InternalError: Check failed: (found) is false: Multiple buffer read

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
    def prim(A1: T.Buffer((1, 1), "int64"), A3: T.Buffer((1,), "int64"), T6: T.Buffer((1,), "int64")):
        # with T.sblock("root"):
        for i7 in range(1):
            with T.sblock("map4"):
                T.reads(A1[0, 0], A3[0])
                T.writes(T6[0])
                T6[0] = A1[0, 0] >> (A3[0] & T.int64(1))

    @R.function
    def main(x: R.Tensor((1, 1), dtype="int64"), y: R.Tensor((1,), dtype="int64")) -> R.Tensor((1,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((1,), dtype="int64"))
        return a

def show():
    global status
    mod = relax.transform.LegalizeOps()(Module)
    sch = tvm.s_tir.Schedule(mod)
    sch.work_on('prim')
    sch.write_at(sch.get_loops(sch.get_sblock("map4"))[0], sch.get_sblock("map4"), 0, "local")
    sch.compute_inline(sch.get_sblock("map4"))
    mod = sch.mod
    status = 1  # From here on, an exception is the bug.
    tvm.compile(mod, tvm.target.Target("llvm"))

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
