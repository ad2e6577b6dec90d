"""[TIRx] SplitHostDevice gives wrong numbers: total: a kernel is given in_thread_B, which is on the host's stack

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
sys.modules["torch"] = None  # TVM would ask PyTorch for devices here, and the child could not use one.
import shutil
import numpy as np
import tvm
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.modules.pop("torch")
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def total(A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32")):
        T.func_attr({"tirx.is_scheduled": True})
        # with T.sblock("root"):
        for i in range(2):
            for x in T.thread_binding(2, thread="threadIdx.x"):
                with T.sblock("sum"):
                    k = T.axis.reduce(4, i * 2 + x)
                    T.reads(A[k])
                    T.writes(B[()])
                    with T.init():
                        B[()] = T.float32(0.0)
                    B[()] = B[()] + A[k]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.total, (x,), out_ty=R.Tensor((), dtype="float32"))
        return a

def show():
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if not device.exist or shutil.which("nvcc") is None:
        print("this needs a CUDA device and nvcc", flush=True)
        finished[0] = 1
        os._exit(2)
    HERE = tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.compute_version.replace('.', '')}"}, host="llvm")

    def on_device(array):
        return tvm.runtime.tensor(array, device)

    mod = relax.transform.AttachGlobalSymbol()(Module)
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
        mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
    mod = s_tir.transform.LowerCrossThreadReduction()(mod)
    mod = s_tir.transform.LowerInitBlock()(mod)
    mod = s_tir.transform.PlanAndUpdateBufferAllocationLocation()(mod)
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    mod = s_tir.transform.LiftThreadBinding()(mod)
    mod = s_tir.transform.CompactBufferAllocation()(mod)
    mod = s_tir.transform.LowerOpaqueBlock()(mod)
    mod = tirx.transform.FlattenBuffer()(mod)
    mod = s_tir.transform.LowerThreadAllreduce()(mod)
    mod = tirx.transform.SplitHostDevice()(mod)
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    got = vm["main"](
        on_device(np.array([1.5796362161636353, -1.012619972229004, 1.1377664804458618, -1.214922308921814], "float32")),
    ).numpy()
    want = np.array(0.4898604154586792, "float32")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = ~np.isclose(got, want, rtol=0, atol=9.887118636697778e-06, equal_nan=True)
    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"
    got = vm["main"](on_device(np.array([3.0, 4.0, 3.0, 0.0], "float32"))).numpy()
    want = np.array(10.0, "float32")
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
