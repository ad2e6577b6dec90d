"""[Relax] Gradient gives a wrong gradient: the gradient by element [0] of parameter 0 is 1, not 0

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
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1,), dtype="float32") = R.cumsum(x, axis=None, dtype=None, exclusive=True)
            b: R.Tensor((), dtype="float32") = R.mean(a, axis=None, keepdims=False)
            R.output(b)
        return b

def show():
    after = relax.transform.Gradient('main')(Module)
    inputs = [np.array([1.0], "float32")]
    for k, x in enumerate(inputs):
        if x.dtype.kind == "f":  # Off the kinks.
            off = (np.arange(x.size).reshape(x.shape) * 5 + k * 3) % 31 + 1
            inputs[k] = np.asarray(x + off.astype(x.dtype) / 64)
    vm = relax.VirtualMachine(tvm.compile(after, "llvm"), tvm.cpu())

    def run(function, inputs):
        return vm[function](*map(tvm.runtime.tensor, inputs))

    def value(change):
        changed = [x.copy() for x in inputs]
        changed[0][(0,)] += change
        return float(run("main", changed).numpy())

    slope = (value(1 / 256) - value(-1 / 256)) * 128
    gradient = float(run("main_adjoint", inputs)[1][0].numpy()[(0,)])
    limit = 0.02 * max(abs(gradient), abs(slope)) + 0.0002 * max(abs(value(0)), 1)
    assert abs(gradient - slope) <= limit, f"the gradient is {gradient} where main changes by {slope}"

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
