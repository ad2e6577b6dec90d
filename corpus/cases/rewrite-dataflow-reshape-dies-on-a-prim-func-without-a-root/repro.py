"""[Relax] default_build raises InternalError: Check failed: (func->body->IsInstance<s_tir::SBlockRealizeNode>())

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

TARGET = tvm.target.Target("llvm")

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(V2: T.Buffer((T.int64(1),), "int32"), O4: T.Buffer((T.int64(1),), "int32")):
        O4[T.int64(0)] = V2[T.int64(0)] << 1 >> 1

    @R.function
    def main(x: R.Tensor((1,), dtype="int32"), y: R.Tensor((), dtype="int32")) -> R.Tensor((), dtype="int32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="int32"))
            R.output()
        return y

def show():
    global status
    mod = Module
    status = 1  # From here on, an exception is the bug.
    for pipeline in ("default_build", relax.get_default_pipeline(TARGET)):
        executable = tvm.compile(mod, TARGET, relax_pipeline=pipeline)
        relax.VirtualMachine(executable, tvm.cpu())
        

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
