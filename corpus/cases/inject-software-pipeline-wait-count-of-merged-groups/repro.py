"""[S-TIR] InjectSoftwarePipeline gives a module with a data race

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
sys.modules["torch"] = None  # TVM would ask PyTorch for devices here, and the child could not use one.
import shutil
import numpy as np
import tvm
from tvm import relax
from tvm import s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.modules.pop("torch")
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A6: T.Buffer((T.int64(1), T.int64(5), T.int64(1)), "uint8"), A12: T.Buffer((T.int64(1), T.int64(5), T.int64(1)), "uint8"), T18: T.Buffer((T.int64(1), T.int64(5), T.int64(1)), "uint8")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        # with T.sblock("root"):
        for i1 in T.thread_binding(T.int64(1), thread="blockIdx.x"):
            for i2 in T.thread_binding(T.int64(1), thread="threadIdx.x"):
                for i5 in T.serial(T.int64(5), annotations={"software_pipeline_async_stages": [0], "software_pipeline_order": [1, 2, 0], "software_pipeline_stage": [0, 0, 3]}):
                    with T.sblock("body23"):
                        T.reads(A6[i1, i5, i2], A12[i1, i5, i2])
                        T.writes(T18[i1, i5, i2])
                        S7 = T.sblock_alloc_buffer((T.int64(1),), "uint8", scope="shared.dyn")
                        S13 = T.sblock_alloc_buffer((T.int64(1),), "uint8", scope="shared.dyn")
                        with T.sblock("fetch8"):
                            v9, v10, v11 = T.axis.remap("SSS", [i1, i5, i2])
                            T.reads(A6[v9, v10, v11])
                            T.writes(S7[v11])
                            S7[v11] = A6[v9, v10, v11]
                        with T.sblock("fetch14"):
                            v15, v16, v17 = T.axis.remap("SSS", [i1, i5, i2])
                            T.reads(A12[v15, v16, v17])
                            T.writes(S13[v17])
                            S13[v17] = A12[v15, v16, v17]
                        with T.sblock("use19"):
                            v20, v21, v22 = T.axis.remap("SSS", [i1, i5, i2])
                            T.reads(S7[T.FloorMod(v22 + T.int64(8), T.int64(1))], S13[T.FloorMod(v22 + T.int64(27), T.int64(1))])
                            T.writes(T18[v20, v21, v22])
                            T18[v20, v21, v22] = T.if_then_else(S7[T.FloorMod(v22 + T.int64(8), T.int64(1))] == T.Cast("uint8", v22), S7[T.FloorMod(v22 + T.int64(8), T.int64(1))], S13[T.FloorMod(v22 + T.int64(27), T.int64(1))])

    @R.function
    def main(A6: R.Tensor((1, 5, 1), dtype="uint8")) -> R.Tensor((1, 5, 1), dtype="uint8"):
        cls = Module
        lv = R.call_tir(cls.prim, (A6, A6), out_ty=R.Tensor((1, 5, 1), dtype="uint8"))
        return lv

def show():
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if not device.exist or shutil.which("nvcc") is None:
        print("this needs a CUDA device and nvcc", flush=True)
        leave(2)
    HERE = tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.compute_version.replace('.', '')}"}, host="llvm")

    def on_device(array):
        return tvm.runtime.tensor(array, device)

    mod = s_tir.transform.ConvertBlocksToOpaque()(Module)
    mod = s_tir.transform.InjectSoftwarePipeline()(mod)
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    got = vm["main"](on_device(np.full((1, 5, 1), 1, "uint8"))).numpy()
    want = np.full((1, 5, 1), 1, "uint8")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = got != want
    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"

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
