"""[Relax] ConvertLayout raises InternalError: Check failed: (src.ndim() == dst.ndim() && input.ndim() == src.ndim())...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 1, 1), dtype="float32"), y: R.Tensor((2, 2, 1, 1), dtype="float32"), z: R.Tensor((2, 1, 1, 1), dtype="float32")) -> R.Tensor((1, 1, 1, 1), dtype="float32"):
        with R.dataflow():
            a: R.Tensor((1, 2, 1, 1), dtype="float32") = R.nn.conv2d(x, y, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            b: R.Tensor((1, 1, 1, 1), dtype="float32") = R.nn.conv2d_transpose(a, z, strides=[1, 1], padding=[0, 0, 0, 0], output_padding=[0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="NCHW", out_dtype=None)
            R.output(b)
        return b

def show():
    transform = relax.transform.ConvertLayout({'relax.nn.conv2d': ['NCHW2c', 'OIHW2o']})
    status[0] = 1  # From here on, an exception is the bug.
    transform(Module)

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
