"""[S-TIR] Schedule[reverse_compute_at+pad_einsum] gives a module that reads uninitialized memory

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
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T14: T.Buffer((T.int64(1),), "bfloat16"), R18: T.Buffer((), "bfloat16")):
        # with T.sblock("root"):
        for i15 in range(T.int64(1)):
            with T.sblock("pad12"):
                v13 = T.axis.spatial(T.int64(1), i15)
                T.reads()
                T.writes(T14[v13])
                T14[v13] = T.bfloat16(1.0)
        with T.sblock("red16"):
            k17 = T.axis.reduce(T.int64(1), T.int64(0))
            T.reads(T14[k17])
            T.writes(R18[()])
            with T.init():
                R18[()] = T.bfloat16(-340282346638528859811704183484516925440.0)
            R18[()] = T14[k17]

    @R.function
    def main() -> R.Tuple(R.Tensor((1,), dtype="bfloat16"), R.Tensor((), dtype="bfloat16")):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=[R.Tensor((1,), dtype="bfloat16"), R.Tensor((), dtype="bfloat16")])
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.reverse_compute_at(sch.get_sblock("red16"), sch.get_loops(sch.get_sblock("pad12"))[0])
    sch.pad_einsum(sch.get_sblock("red16"), [2])
    mod = sch.mod
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    results = [t.numpy() for t in vm["main"]()]
    wanted = [np.array([1.0], "float32").astype("bfloat16"), np.array(1.0, "float32").astype("bfloat16")]
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
