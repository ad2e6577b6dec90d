"""[Relax] target default pipeline raises InternalError: Check failed: (ffi::StructuralEqual()((*it).second.type(),...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target("llvm")

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1(A: T.Buffer((1,), "float32"), add: T.Buffer((1,), "float32")):
        T.evaluate(0)

    @R.function
    def main(v7: R.Tensor((1,), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        cls = Module
        with R.dataflow():
            v8 = R.call_tir(cls.prim1, (v7,), out_ty=R.Tensor((1,), dtype="float32"))
            v9: R.Tensor((1,), dtype="float32") = R.add(v8, v8)
            R.output(v9)
        return v9

def show():
    mod = Module
    status[0] = 1  # From here on, an exception is the bug.
    for pipeline in ("default_build", relax.get_default_pipeline(TARGET)):
        executable = tvm.compile(mod, TARGET, relax_pipeline=pipeline)
        relax.VirtualMachine(executable, tvm.cpu())
        

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
