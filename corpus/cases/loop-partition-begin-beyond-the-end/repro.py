"""[S-TIR] LoopPartition gives a module that reads or writes out of bounds

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm import relax, s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(X: T.Buffer((2,), "int32"), Y: T.Buffer((8, 2), "int32")):
        for i, j in T.grid(8, 2):
            Y[i, j] = 0
        for i in range(5):
            for j in T.serial(2, annotations={"pragma_loop_partition_hint": 1}):
                Y[i, j] = Y[i, j] + T.if_then_else(T.likely(i <= j), X[j], 1)

    @R.function
    def main(x: R.Tensor((2,), dtype="int32")) -> R.Tensor((8, 2), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((8, 2), dtype="int32"))
        return a

def show():
    mod = s_tir.transform.LowerOpaqueBlock()(Module)
    mod = s_tir.transform.LoopPartition()(mod)
    import ctypes, mmap

    executable = tvm.compile(mod, tvm.target.Target("llvm"))

    def walled(array, at_end):  # An input between two pages that cannot be read, and "?" on its own pages.
        size = max(-(-array.nbytes // 4096), 1) * 4096
        memory = mmap.mmap(-1, size + 8192)
        memory.write(b"?" * len(memory))
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for wall in (address, address + 4096 + size):
            ctypes.CDLL(None).mprotect(ctypes.c_void_p(wall), 4096, 0)
        start = 4096 + at_end * (size - array.nbytes) // 64 * 64
        inner = np.frombuffer(memory, array.dtype, array.size, start).reshape(array.shape)
        inner[...] = array
        return tvm.runtime.from_dlpack(inner)

    for at_end in (False, True):
        vm = relax.VirtualMachine(executable, tvm.cpu())
        got = vm["main"](walled(np.full(2, 3, "int32"), at_end)).numpy()
        want = np.array([[3, 3], [1, 3], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 0]], "int32")
        kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
        assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
        wrong = got != want
        assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"
        got = vm["main"](walled(np.full(2, 3, "int32"), at_end)).numpy()
        want = np.array([[3, 3], [1, 3], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 0]], "int32")
        kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
        assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
        wrong = got != want
        assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"
        got = vm["main"](walled(np.array([3, 1], "int32"), at_end)).numpy()
        want = np.array([[3, 1], [1, 1], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 0]], "int32")
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
