"""[S-TIR] StmtSimplify raises TypeError: Check failed: (a_ty->dtype == b_ty->dtype) is false: mismatched types. int32...

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
from tvm import s_tir
from tvm.script import ir as I, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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
    global status
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.cache_index(sch.get_sblock("map16"), "local", 0)
    mod = sch.mod
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    transform = s_tir.transform.StmtSimplify()
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
