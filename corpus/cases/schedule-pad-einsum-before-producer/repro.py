"""[S-TIR] Schedule[reverse_compute_at+pad_einsum] gives a module that reads uninitialized memory

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys

if os.environ.get("MALLOC_PERTURB_") != "177":  # Unwritten memory holds 0x4e, a large number as a float.
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_PERTURB_": "177"})
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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
    mod = tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('prim'),
        sch.reverse_compute_at(sch.get_sblock("red16"), sch.get_loops(sch.get_sblock("pad12"))[0]),
        sch.pad_einsum(sch.get_sblock("red16"), [2]), sch.mod)[-1], opt_level=0)(Module)
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
at_end = mmap.mmap(-1, 1)  # The child says here that it came to its end.
if child := os.fork():  # The parent waits: a native crash, an exit or a hang is an answer too.
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(code if at_end[0] else print("killed by signal" if code < 0 else "exit", abs(code)) or 1)
sys.excepthook = lambda *why: (at_end.__setitem__(0, 1), hook(*why))
leave = lambda status: (at_end.__setitem__(0, 1), os._exit(status))
signal.alarm(120)
show()
leave(print("the bug is gone", flush=True) or 0)
