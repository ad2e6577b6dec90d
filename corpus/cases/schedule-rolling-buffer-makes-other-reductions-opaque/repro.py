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
    def prim(R11: T.Buffer((2,), "float32"), R16: T.Buffer((), "float16")):
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((4,))
        for i7 in range(4):
            with T.sblock("map4"):
                v5 = T.axis.spatial(4, i7)
                T.reads()
                T.writes(T6[v5])
                T6[v5] = T.float32(1.0)
        for i12, i13 in T.grid(2, 2):
            with T.sblock("win8"):
                v9, k10 = T.axis.remap("SR", [i12, i13])
                T.reads(T6[v9 + k10])
                T.writes(R11[v9])
                R11[v9] = T6[v9 + k10]
        for i17 in range(2):
            with T.sblock("red14"):
                k15 = T.axis.reduce(2, i17)
                T.reads()
                T.writes(R16[()])
                with T.init():
                    R16[()] = T.float16(2.0)
                R16[()] = R16[()] + T.float16(1.0)

    @R.function
    def main() -> R.Tuple(R.Tensor((2,), dtype="float32"), R.Tensor((), dtype="float16")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((2,), dtype="float32"), R.Tensor((), dtype="float16")])
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.compute_at(sch.get_sblock("map4"), sch.get_loops(sch.get_sblock("win8"))[0])
    sch.rolling_buffer(sch.get_sblock("map4"), 0)
    mod = sch.mod
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    results = [t.numpy() for t in vm["main"]()]
    wanted = [np.full(2, 1.0, "float32"), np.array(4.0, "float16")]
    tolerances = [0.0, 0.0]
    assert len(results) == len(wanted), f"{len(results)} outputs instead of {len(wanted)}"
    for number, (got, want, tolerance) in enumerate(zip(results, wanted, tolerances)):
        kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
        assert kinds[0] == kinds[1], f"output {number} is {kinds[0]} instead of {kinds[1]}"
        wrong = ~np.isclose(got.astype("float64"), want.astype("float64"), rtol=0, atol=tolerance, equal_nan=True)
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
