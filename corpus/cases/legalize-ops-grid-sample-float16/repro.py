"""[Relax] LegalizeOps gives wrong numbers for image.grid_sample

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
from tvm.runtime import tensor
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 1, 2), dtype="float16"), y: R.Tensor((1, 1, 1, 2), dtype="float16")) -> R.Tensor((1, 1, 1, 2), dtype="float16"):
        a: R.Tensor((1, 1, 1, 2), dtype="float16") = R.image.grid_sample(y, x, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=False)
        return a

def show():
    mod = relax.transform.LegalizeOps()(Module)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"](tensor(np.full((1, 2, 1, 2), 1.0, "float16")), tensor(np.full((1, 1, 1, 2), 1.0, "float16"))).numpy()
    want = np.full((1, 1, 1, 2), 0.25, "float16")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = ~np.isclose(got.astype("float64"), want.astype("float64"), rtol=0, atol=np.array([[[[0.2875995598733425, 0.29151344671845436]]]], "float64"), equal_nan=True)
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
