"""[TIRx] FlattenBuffer gives a module that reads or writes out of bounds

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
sys.excepthook = hook = lambda *why: (
    sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(1 if why[0] is AssertionError else 2))
import numpy as np
import tvm
from tvm import relax
from tvm import tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def call_main(x: R.Tensor((2,), dtype="int32")) -> R.Tensor((2,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.main, (x,), out_ty=R.Tensor((2,), dtype="int32"))
        return a

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
        for f in range(2):
            B[f] = A[f // 4 + (f - 1) // 4 + 1]

def show():
    mod = tirx.transform.FlattenBuffer()(Module)
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
        got = vm["call_main"](walled(np.full(2, 1, "int32"), at_end)).numpy()
        want = np.full(2, 1, "int32")
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
