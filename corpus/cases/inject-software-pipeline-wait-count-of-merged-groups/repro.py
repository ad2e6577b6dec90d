"""[S-TIR] InjectSoftwarePipeline gives a module with a data race

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
from tvm import relax, s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.modules.pop("torch")
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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
        finished[0] = 1
        os._exit(2)
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
