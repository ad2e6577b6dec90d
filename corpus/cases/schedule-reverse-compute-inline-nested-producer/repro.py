"""[S-TIR] Schedule[reverse_compute_inline] gives wrong numbers

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys

if os.environ.get("MALLOC_PERTURB_") != "177":  # Unwritten memory holds 0x4e, a large number as a float.
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_PERTURB_": "177"})

finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm.runtime import tensor
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((6,), "float32"), C: T.Buffer((8,), "float32")):
        # with T.sblock("root"):
        B = T.sblock_alloc_buffer((6,))
        for i in range(3):
            with T.sblock("tile"):
                v = T.axis.spatial(3, i)
                T.reads(A[v * 2:v * 2 + 2])
                T.writes(B[v * 2:v * 2 + 2])
                for j in range(2):
                    with T.sblock("inner"):
                        w = T.axis.spatial(2, j)
                        T.reads(A[v * 2 + w])
                        T.writes(B[v * 2 + w])
                        B[v * 2 + w] = A[v * 2 + w]
        for i in range(8):
            with T.sblock("pad"):
                u = T.axis.spatial(8, i)
                T.reads(B[u - 2])
                T.writes(C[u])
                C[u] = T.if_then_else(2 <= u, B[u - 2], T.float32(1.0))

    @R.function
    def main(x: R.Tensor((6,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((8,), dtype="float32"))
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.reverse_compute_inline(sch.get_sblock("pad"))
    mod = sch.mod
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"](tensor(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "float32"))).numpy()
    want = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "float32")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = ~np.isclose(got, want, rtol=0, atol=0.0, equal_nan=True)
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
