"""[S-TIR] LowerThreadAllreduce gives a module with a data race

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

TARGET = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A2: T.Buffer((3, 8), "int32"), A16: T.Buffer((4, 5), "int32"), T9: T.Buffer((3, 8), "int32"), T27: T.Buffer((4, 5), "int32")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        # with T.sblock("root"):
        R6 = T.sblock_alloc_buffer((3,), "int32", scope="local")
        R21 = T.sblock_alloc_buffer((4,), "int32", scope="shared")
        R22 = T.sblock_alloc_buffer((4,), "int32", scope="shared")
        for i1 in T.thread_binding(3, thread="blockIdx.x"):
            for i3 in T.thread_binding(16, thread="threadIdx.x"):
                with T.sblock("red7"):
                    v4 = T.axis.spatial(3, i1)
                    k5 = T.axis.reduce(8, i3)
                    T.where(i3 < 8)
                    T.reads(A2[v4, k5])
                    T.writes(R6[v4])
                    with T.init():
                        R6[v4] = -2147483648
                    R6[v4] = T.max(R6[v4], A2[v4, k5])
            for i11 in range(1):
                for i10 in T.thread_binding(16, thread="threadIdx.x"):
                    with T.sblock("use13"):
                        v8 = T.axis.spatial(3, i1)
                        v12 = T.axis.spatial(8, i11 * 16 + i10)
                        T.where(i11 * 16 + i10 < 8)
                        T.reads(R6[v8], A2[v8, v12])
                        T.writes(T9[v8, v12])
                        T9[v8, v12] = 0 - R6[v8] - A2[v8, v12]
        for i14 in T.thread_binding(2, thread="blockIdx.x"):
            for i15 in T.thread_binding(2, thread="threadIdx.y"):
                for i18 in range(3):
                    for i17 in T.thread_binding(2, thread="threadIdx.x"):
                        with T.sblock("red25"):
                            v19 = T.axis.spatial(4, i14 * 2 + i15)
                            k20 = T.axis.reduce(5, i17 * 3 + i18)
                            T.where(i17 * 3 + i18 < 5)
                            T.reads(A16[v19, k20])
                            T.writes(R21[v19], R22[v19])
                            with T.init():
                                R21[v19] = -1
                                R22[v19] = 2147483647
                            x23: T.let[T.int32] = T.Select(R22[v19] < T.Select(1 == v19, v19, A16[v19, k20]) or R22[v19] == T.Select(1 == v19, v19, A16[v19, k20]) and R21[v19] < k20, R21[v19], k20)
                            x24: T.let[T.int32] = T.Select(R22[v19] < T.Select(1 == v19, v19, A16[v19, k20]), R22[v19], T.Select(1 == v19, v19, A16[v19, k20]))
                            R21[v19] = x23
                            R22[v19] = x24
                for i29 in range(3):
                    for i28 in T.thread_binding(2, thread="threadIdx.x"):
                        with T.sblock("use31"):
                            v26 = T.axis.spatial(4, i14 * 2 + i15)
                            v30 = T.axis.spatial(5, i29 * 2 + i28)
                            T.where(i29 * 2 + i28 < 5)
                            T.reads(A16[v26, v30], R22[v26])
                            T.writes(T27[v26, v30])
                            T27[v26, v30] = T.Select(0 - A16[v26, v30] != A16[v26, v30], T.max(R22[v26], v30), R22[v26])

    @R.function
    def main(A2: R.Tensor((3, 8), dtype="int32"), A16: R.Tensor((4, 5), dtype="int32")) -> R.Tuple(R.Tensor((3, 8), dtype="int32"), R.Tensor((4, 5), dtype="int32")):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.prim, (A2, A16), out_ty=[R.Tensor((3, 8), dtype="int32"), R.Tensor((4, 5), dtype="int32")])
            gv: R.Tuple(R.Tensor((3, 8), dtype="int32"), R.Tensor((4, 5), dtype="int32")) = lv
            R.output(gv)
        return gv

def show():
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if not device.exist or shutil.which("nvcc") is None:
        print("this needs a CUDA device and nvcc", flush=True)
        leave(2)
    HERE = tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.compute_version.replace('.', '')}"}, host="llvm")

    def on_device(array):
        return tvm.runtime.tensor(array, device)

    with TARGET:
        mod = relax.backend.DispatchSampling()(Module)
    with TARGET:
        mod = relax.backend.DispatchSortScan()(mod)
    mod = relax.transform.LegalizeOps()(mod)
    mod = relax.transform.AnnotateTIROpPattern()(mod)
    mod = relax.transform.FoldConstant()(mod)
    mod = relax.transform.FuseOps()(mod)
    mod = relax.transform.FuseTIR()(mod)
    with TARGET:
        mod = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
            tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), tvm.s_tir.dlight.gpu.Fallback())(mod)
    mod = relax.transform.RewriteDataflowReshape()(mod)
    mod = relax.transform.ToNonDataflow()(mod)
    mod = relax.transform.RemovePurityChecking()(mod)
    mod = relax.transform.CallTIRRewrite()(mod)
    mod = relax.transform.StaticPlanBlockMemory()(mod)
    mod = relax.transform.RewriteCUDAGraph()(mod)
    mod = relax.transform.LowerAllocTensor()(mod)
    mod = relax.transform.KillAfterLastUse()(mod)
    mod = relax.transform.LowerRuntimeBuiltin()(mod)
    mod = relax.transform.ComputePrimValue()(mod)
    mod = relax.transform.VMShapeLower()(mod)
    mod = relax.transform.AttachGlobalSymbol()(mod)
    with TARGET:
        mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
    mod = s_tir.transform.LowerCrossThreadReduction()(mod)
    mod = s_tir.transform.PlanAndUpdateBufferAllocationLocation()(mod)
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    mod = s_tir.transform.LiftThreadBinding()(mod)
    mod = s_tir.transform.CompactBufferAllocation()(mod)
    mod = s_tir.transform.LowerOpaqueBlock()(mod)
    mod = tirx.transform.FP8ComputeLegalize()(mod)
    mod = s_tir.transform.VerifyVTCMLimit()(mod)
    mod = s_tir.transform.LowerVtcmAlloc()(mod)
    mod = tirx.transform.VerifyMemory()(mod)
    mod = tirx.transform.AnnotateEntryFunc()(mod)
    mod = s_tir.transform.ThreadSync('shared')(mod)
    mod = s_tir.transform.ThreadSync('shared.dyn')(mod)
    mod = s_tir.transform.ThreadSync('warp')(mod)
    mod = s_tir.transform.InferFragment()(mod)
    mod = s_tir.transform.LowerThreadAllreduce()(mod)
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    results = [t.numpy() for t in vm["main"](
        on_device(np.array([[2, 3, 2, 3, 4, 2, 4, 1], [1, 1, 4, 1, 2, 2, 4, 4], [1, 2, 4, 1, 3, 2, 4, 1]], "int32")),
        on_device(np.array([[-1, 3, 3, 1, -4], [-1, -3, 1, 4, -1], [-4, 3, 2, 1, 3], [2, -3, -1, 0, -2]], "int32")),
    )]
    wanted = [
        np.array([[-6, -7, -6, -7, -8, -6, -8, -5], [-5, -5, -8, -5, -6, -6, -8, -8], [-5, -6, -8, -5, -7, -6, -8, -5]], "int32"),
        np.array([[0, 1, 2, 3, 4], [1, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, -3, 4]], "int32"),
    ]
    tolerances = [0.0, 0.0]
    assert len(results) == len(wanted), f"{len(results)} outputs instead of {len(wanted)}"
    for number, (got, want, tolerance) in enumerate(zip(results, wanted, tolerances)):
        kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
        assert kinds[0] == kinds[1], f"output {number} is {kinds[0]} instead of {kinds[1]}"
        wrong = got != want
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
