"""[Relax] FuseTIR raises InternalError: Check failed: (prim_value.as<PrimVar>()) is false: All shape inputs are...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import numpy as np
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main() -> R.Tensor(dtype="float32", ndim=1):
        s2 = T.int64()
        with R.dataflow():
            a: R.Tensor((1,), dtype="int64") = R.add(R.const(np.array([1], "int64"), "int64"), R.const(np.array([1], "int64"), "int64"))
            b: R.Shape(ndim=1) = R.tensor_to_shape(a)
            c: R.Shape([s2]) = R.match_cast(b, R.Shape([s2]))
            d: R.Tensor((s2,), dtype="float32") = R.full(R.shape([s2]), R.const(1.0, "float32"), dtype=None)
            e: R.Tensor((s2,), dtype="float32") = R.square(d)
            R.output(e)
        return e

def show():
    mod = relax.transform.LegalizeOps()(Module)
    mod = relax.transform.AnnotateTIROpPattern()(mod)
    mod = relax.transform.FoldConstant()(mod)
    mod = relax.transform.FuseOps()(mod)
    transform = relax.transform.FuseTIR()
    status[0] = 1  # From here on, an exception is the bug.
    transform(mod)

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
