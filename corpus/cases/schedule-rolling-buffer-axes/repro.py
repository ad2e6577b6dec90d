"""[S-TIR] Schedule[compute_at+rolling_buffer] gives wrong numbers

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T5: T.Buffer((1, 8), "float32"), R18: T.Buffer((1, 2), "float32")):
        # with T.sblock("root"):
        T11 = T.sblock_alloc_buffer((1, 8))
        for j4 in range(8):
            x6: T.let[T.float32] = T.Cast("float32", j4)
            T5[0, j4] = x6
        for i12 in range(8):
            with T.sblock("map8"):
                v9 = T.axis.spatial(8, i12)
                v10 = T.axis.spatial(1, 0)
                T.reads(T5[v10, v9])
                T.writes(T11[v10, v9])
                T11[v10, v9] = T5[v10, v9]
        for i19, i20, i21 in T.grid(1, 2, 2):
            with T.sblock("win14"):
                v15, v16, k17 = T.axis.remap("SSR", [i19, i20, i21])
                T.reads(T11[v15, v16 + k17])
                T.writes(R18[v15, v16])
                R18[v15, v16] = T11[v15, v16 + k17]

    @R.function
    def main() -> R.Tuple(R.Tensor((1, 8), dtype="float32"), R.Tensor((1, 2), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((1, 8), dtype="float32"), R.Tensor((1, 2), dtype="float32")])
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.compute_at(sch.get_sblock("map8"), sch.get_loops(sch.get_sblock("win14"))[1])
    sch.rolling_buffer(sch.get_sblock("map8"), 0)
    mod = sch.mod
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    results = [t.numpy() for t in vm["main"]()]
    wanted = [np.array([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]], "float32"), np.array([[1.0, 2.0]], "float32")]
    tolerances = [0.0, 0.0]
    assert len(results) == len(wanted), f"{len(results)} outputs instead of {len(wanted)}"
    for number, (got, want, tolerance) in enumerate(zip(results, wanted, tolerances)):
        kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
        assert kinds[0] == kinds[1], f"output {number} is {kinds[0]} instead of {kinds[1]}"
        wrong = ~np.isclose(got, want, rtol=0, atol=tolerance, equal_nan=True)
        assert not wrong.any(), f"output {number} is {got[wrong][0]} instead of {want[wrong][0]}"

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
