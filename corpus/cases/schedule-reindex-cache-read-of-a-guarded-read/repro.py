"""[S-TIR] Schedule[reindex_cache_read] gives a module that reads or writes out of bounds

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
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((8,), "int64"), B: T.Buffer((9,), "int64")):
        # with T.sblock("root"):
        for i in range(9):
            with T.sblock("pad"):
                v = T.axis.spatial(9, i)
                T.reads(A[v])
                T.writes(B[v])
                B[v] = T.if_then_else(v < 8, A[v], T.int64(0))

    @R.function
    def main(x: R.Tensor((8,), dtype="int64")) -> R.Tensor((9,), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((9,), dtype="int64"))
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.reindex_cache_read(sch.get_sblock("pad"), 0, "global", lambda i: (i,))
    mod = sch.mod
    import ctypes, mmap

    executable = tvm.compile(mod, tvm.target.Target({"kind": "llvm", "opt-level": 0}))

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
        got = vm["main"](walled(np.array([1, 2, 3, 4, 5, 6, 7, 8], "int64"), at_end)).numpy()
        want = np.array([1, 2, 3, 4, 5, 6, 7, 8, 0], "int64")
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
