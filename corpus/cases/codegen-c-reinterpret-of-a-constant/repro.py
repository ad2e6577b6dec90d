"""[LLVM] relax.build (build_c) raises the C++ compiler: lvalue required as unary & operand

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
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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
    global status
    mod = Module
    status = 1  # From here on, an exception is the bug.
    import tempfile
    from tvm.support.cc import get_cc

    if get_cc() is None:
        print("this needs a C++ compiler", flush=True)
        finished[0] = 1
        os._exit(2)
    with tvm.transform.PassContext(opt_level=3):
        executable = relax.build(mod, tvm.target.Target({"kind": "c"}))
        folder = tempfile.TemporaryDirectory()
        executable.export_library(f"{folder.name}/exported.so")
        executable = tvm.runtime.load_module(f"{folder.name}/exported.so")
        folder.cleanup()
        

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
