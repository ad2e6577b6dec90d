"""[Relax] RealizeVDevice raises ValueError: Argument 1 type mismatch: expected R.Tensor((), dtype='float32',...

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
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global")]})
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        # from tvm.script import ir as I
        # from tvm.script import relax as R
        
        @R.function
        def a(y: R.Tensor((), dtype="float32"), z: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
            b: R.Tensor((), dtype="float32") = R.add(y, z)
            return b

        c: R.Tensor((), dtype="float32") = a(x, R.const(1.0, "float32"))
        d: R.Tensor((), dtype="float32") = R.hint_on_device(c, R.device(device_type=1, index=0), "global")
        return d

def show():
    global status
    transform = relax.transform.RealizeVDevice()
    status = 1  # From here on, an exception is the bug.
    transform(Module)

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
