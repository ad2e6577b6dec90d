"""[S-TIR] Schedule[reorder+loop_partition+decompose_reduction] gives wrong numbers

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
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.modules.pop("torch")
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(R9: T.Buffer((T.int64(1), T.int64(4)), "float64")):
        # with T.sblock("root"):
        for i10, i11, i12 in T.grid(T.int64(1), T.int64(4), T.int64(2)):
            with T.sblock("mm5"):
                v7, k8 = T.axis.remap("SR", [i11, i12])
                T.reads()
                T.writes(R9[T.int64(0), v7])
                with T.init():
                    R9[T.int64(0), v7] = T.float64(0.0)
                R9[T.int64(0), v7] = R9[T.int64(0), v7] + T.float64(1.0)

    @R.function
    def main() -> R.Tensor((1, 4), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 4), dtype="float64"))
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

    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.reorder(sch.get_loops(sch.get_sblock("mm5"))[2], sch.get_loops(sch.get_sblock("mm5"))[1])
    sch.loop_partition(sch.get_loops(sch.get_sblock("mm5"))[2], factors=[3, None])
    sch.decompose_reduction(sch.get_sblock("mm5_i110"), sch.get_loops(sch.get_sblock("mm5_i110"))[0])
    mod = sch.mod
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    got = vm["main"]().numpy()
    want = np.full((1, 4), 2.0, "float64")
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
