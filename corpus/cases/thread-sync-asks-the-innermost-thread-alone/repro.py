"""[S-TIR] ThreadSync[shared] gives a module with a data race

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
    def rows(A: T.Buffer((2, 64), "int32"), B: T.Buffer((2, 64), "int32")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        # with T.sblock("root"):
        S = T.sblock_alloc_buffer((2,), "int32", scope="shared")
        for y in T.thread_binding(2, thread="threadIdx.y"):
            for x in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("sum"):
                    v, k = T.axis.remap("SR", [y, x])
                    T.reads(A[v, k])
                    T.writes(S[v])
                    with T.init():
                        S[v] = 0
                    S[v] = S[v] + A[v, k]
            for x in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("use"):
                    v, w = T.axis.remap("SS", [y, x])
                    T.reads(S[v])
                    T.writes(B[v, w])
                    B[v, w] = S[v]

    @R.function
    def main(x: R.Tensor((2, 64), dtype="int32")) -> R.Tensor((2, 64), dtype="int32"):
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.rows, (x,), out_ty=R.Tensor((2, 64), dtype="int32"))
            R.output(r)
        return r

ARRAYS = np.load(os.path.join(os.path.dirname(__file__), "inputs.npz"))


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

    mod = relax.transform.LegalizeOps()(Module)
    mod = relax.transform.ToNonDataflow()(mod)
    mod = relax.transform.RemovePurityChecking()(mod)
    mod = relax.transform.CallTIRRewrite()(mod)
    mod = relax.transform.StaticPlanBlockMemory()(mod)
    mod = relax.transform.LowerAllocTensor()(mod)
    mod = relax.transform.KillAfterLastUse()(mod)
    mod = relax.transform.LowerRuntimeBuiltin()(mod)
    mod = relax.transform.VMShapeLower()(mod)
    mod = relax.transform.AttachGlobalSymbol()(mod)
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
    mod = tirx.transform.VectorizeLoop(True)(mod)
    mod = s_tir.transform.ThreadSync('shared')(mod)
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    got = vm["main"](on_device(ARRAYS["a0"])).numpy()
    want = ARRAYS["a1"]
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = got != want
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
