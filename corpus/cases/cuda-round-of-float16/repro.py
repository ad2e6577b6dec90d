"""[CUDA] tvm.compile raises nvcc: knows no function hnearbyint

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
sys.modules["torch"] = None  # TVM would ask PyTorch for devices here, and the child could not use one.
import shutil
import tvm
from tvm.script import ir as I, relax as R
sys.modules.pop("torch")
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), dtype="float16")) -> R.Tensor((), dtype="float16"):
        a: R.Tensor((), dtype="float16") = R.round(x)
        return a

def show():
    global status
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if shutil.which("nvcc") is None:
        print("this needs nvcc", flush=True)
        finished[0] = 1
        os._exit(2)

    mod = Module
    status = 1  # From here on, an exception is the bug.
    modules = [tvm.compile(mod, TARGET).mod]
    while modules:  # Where no device is, TVM has kept the source of the kernels and asked no compiler.
        modules.extend(modules[0].imports)
        if (part := modules.pop(0)).kind == "cuda" and not device.exist:
            with TARGET:
                tvm.get_global_func("tvm_callback_cuda_compile")(part.inspect_source("cuda"))

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
