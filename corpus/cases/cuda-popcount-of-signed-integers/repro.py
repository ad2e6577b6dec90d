"""[Codegen] tvm.compile raises InternalError: Unresolved call ir.Op(span=None, ty=ir.Type(span=None),...

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
from tvm.script import ir as I, relax as R, tirx as T
sys.modules.pop("torch")
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((T.int64(1),), "int32"), B: T.Buffer((T.int64(1),), "int32")):
        with T.sblock("root"):
            T.reads()
            T.writes()
            with T.sblock("B"):
                T.reads()
                T.writes(B[T.int64(0)])
                B[T.int64(0)] = T.popcount(1)

    @R.function
    def main(x: R.Tensor((1,), dtype="int32")) -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="int32"))
        return a

def show():
    global status
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if device.exist and shutil.which("nvcc") is None:
        print("this needs nvcc where a CUDA device is", flush=True)
        finished[0] = 1
        os._exit(2)

    mod = Module
    status = 1  # From here on, an exception is the bug.
    tvm.compile(mod, tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"))

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
