"""[Relax] LegalizeOps raises InternalError: Check failed: (padded_iter_map->errors.empty()) is false: Could not parse...

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
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 1, 2), dtype="float32"), y: R.Tensor((2, 2, 1, 1), dtype="float32")) -> R.Tensor((1, 1, 1, 1), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1, 2, 1, 2), dtype="float32") = R.nn.conv2d(x, y, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            b: R.Tensor((1, 1, 1, 1), dtype="float32") = R.max(a, axis=None, keepdims=True)
            R.output(b)
        return b

def show():
    global status
    mod = relax.transform.ConvertLayout({'relax.nn.conv2d': ['NCHW2c', 'OIHW2o']})(Module)
    transform = relax.transform.LegalizeOps()
    status = 1  # From here on, an exception is the bug.
    transform(mod)

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
