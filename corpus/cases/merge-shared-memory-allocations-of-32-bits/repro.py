"""[S-TIR] MergeSharedMemoryAllocations raises InternalError: Check failed: (it != scope.buffer_byte_offsets.end())

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
from tvm import s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        for i1 in T.thread_binding(1, thread="blockIdx.x"):
            for i2 in T.thread_binding(8, thread="threadIdx.x"):
                S1 = T.alloc_buffer((1,), scope="shared.dyn")
                S2 = T.alloc_buffer((8,), scope="shared.dyn")
                if i2 == 0:
                    S1[0] = A[0]
                S2[i2] = A[i2]
                C[i2] = S1[0] + S2[7 - i2]

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((8,), dtype="float32"))
        return a

def show():
    global status
    mod = s_tir.transform.LowerOpaqueBlock()(Module)
    mod = tirx.transform.FlattenBuffer()(mod)
    transform = s_tir.transform.MergeSharedMemoryAllocations()
    status = 1  # From here on, an exception is the bug.
    transform(mod)

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
