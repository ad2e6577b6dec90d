"""[S-TIR] LowerAutoCopy gives wrong numbers

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
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(B: T.Buffer((1, 2, 2), "float16")):
        with T.sblock("tiles"):
            T.reads()
            T.writes(B[0, 0:2, 0:2])
            S = T.sblock_alloc_buffer((2, 2), "float16", scope="shared")
            for i, j in T.grid(2, 2):
                S[i, j] = T.float16(1.0)
            with T.sblock("copy"):
                T.reads(S[0:2, 0:2])
                T.writes(B[0, 0:2, 0:2])
                T.sblock_attr({"auto_copy": True, "vector_bytes": 2})
                for i, j in T.grid(2, 2):
                    B[0, j, i] = S[i, j]

    @R.function
    def main() -> R.Tensor((1, 2, 2), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 2, 2), dtype="float16"))
        return a

def show():
    global status
    mod = Module
    status = 1  # From here on, an exception is the bug.
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.full((1, 2, 2), 1.0, "float16")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = ~np.isclose(got.astype("float64"), want.astype("float64"), rtol=0, atol=0.0, equal_nan=True)
    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"

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
