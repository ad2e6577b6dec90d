"""[LLVM] relax.build (build_c) raises the C++ compiler: lvalue required as unary & operand

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dead_prim(A1: T.Buffer((T.int64(9), T.int64(3)), "bfloat16"), A2: T.Buffer((T.int64(9),), "bfloat16"), R11: T.Buffer((), "bfloat16"), T16: T.Buffer((T.int64(9), T.int64(1)), "bfloat16"), T6: T.Buffer((T.int64(11), T.int64(3)), "bfloat16")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i12 in range(T.int64(9)):
            with T.sblock("red9"):
                k10 = T.axis.reduce(T.int64(9), i12)
                T.reads(A2[T.Sub(T.int64(9), T.int64(1)) - k10])
                T.writes(R11[()])
                with T.init():
                    R11[()] = T.bfloat16(3.0)
                R11[()] = T.max(R11[()], A2[T.Sub(T.int64(9), T.int64(1)) - k10])

    @R.function
    def main(v7: R.Tensor((), dtype="bool")) -> R.Tensor((), dtype="bool"):
        return v7

def show():
    mod = Module
    status[0] = 1  # From here on, an exception is the bug.
    import tempfile
    from tvm.support.cc import get_cc

    if get_cc() is None:
        print("this needs a C++ compiler", flush=True)
        leave(2)
    with tvm.transform.PassContext(opt_level=3):
        executable = relax.build(mod, tvm.target.Target({"kind": "c"}))
        folder = tempfile.TemporaryDirectory()
        executable.export_library(f"{folder.name}/exported.so")
        executable = tvm.runtime.load_module(f"{folder.name}/exported.so")
        folder.cleanup()
        

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
