"""[TIRx] SplitHostDevice gives wrong numbers: prim: a kernel is given in_thread_R5, which is on the host's stack

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
import shutil
import numpy as np
import tvm
from tvm import relax
from tvm import s_tir
from tvm import tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A1: T.Buffer((16,), "float32"), R5: T.Buffer((), "int32"), R6: T.Buffer((), "float32")):
        # with T.sblock("root"):
        for i3 in range(2):
            for i2 in T.thread_binding(2, thread="threadIdx.x"):
                with T.sblock("red9"):
                    k4 = T.axis.reduce(16, i3 + i2)
                    T.reads()
                    T.writes(R5[()], R6[()])
                    with T.init():
                        R5[()] = -1
                        R6[()] = T.float32(340282346638528859811704183484516925440.0)
                    x7: T.let[T.int32] = T.Select(R6[()] < T.float32(1.0) or R6[()] == T.float32(1.0) and R5[()] < k4, R5[()], k4)
                    x8: T.let[T.float32] = T.Select(R6[()] < T.float32(1.0), R6[()], T.float32(1.0))
                    R5[()] = x7
                    R6[()] = x8

    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tuple(R.Tensor((), dtype="int32"), R.Tensor((), dtype="float32")):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=[R.Tensor((), dtype="int32"), R.Tensor((), dtype="float32")])
        return a

def show():
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if not device.exist or shutil.which("nvcc") is None:
        print("this needs a CUDA device and nvcc", flush=True)
        leave(2)
    HERE = tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.compute_version.replace('.', '')}"}, host="llvm")

    def on_device(array):
        return tvm.runtime.tensor(array, device)

    mod = relax.transform.AttachGlobalSymbol()(Module)
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
        mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
    mod = s_tir.transform.LowerCrossThreadReduction()(mod)
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    mod = s_tir.transform.LowerOpaqueBlock()(mod)
    mod = s_tir.transform.LowerThreadAllreduce()(mod)
    mod = tirx.transform.SplitHostDevice()(mod)
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    results = [t.numpy() for t in vm["main"](on_device(np.full(16, 1.0, "float32")))]
    wanted = [np.array(0, "int32"), np.array(1.0, "float32")]
    tolerances = [0.0, 0.0]
    assert len(results) == len(wanted), f"{len(results)} outputs instead of {len(wanted)}"
    for number, (got, want, tolerance) in enumerate(zip(results, wanted, tolerances)):
        kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
        assert kinds[0] == kinds[1], f"output {number} is {kinds[0]} instead of {kinds[1]}"
        wrong = ~np.isclose(got, want, rtol=0, atol=tolerance, equal_nan=True) if "float" in str(want.dtype) else got != want
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
