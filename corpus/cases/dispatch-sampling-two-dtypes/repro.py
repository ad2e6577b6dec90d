"""[Relax] DispatchSampling raises InternalError: Check failed: (!name_supply_->ContainsName(global_symbol_value)) is...

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
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(z: R.Tensor((1, 1), dtype="float32"), x: R.Tensor((1, 1), dtype="int32"), y: R.Tensor((1, 1), dtype="int64")) -> R.Tuple(R.Tensor((1, 1), dtype="int64"), R.Tensor((1, 1), dtype="int64")):
        a: R.Tensor((1, 1), dtype="int64") = R.multinomial_from_uniform(z, z, x, dtype="int64")
        d: R.Tensor((1, 1), dtype="int64") = R.multinomial_from_uniform(z, z, y, dtype="int64")
        return (a, d)

def show():
    global status
    transform = relax.backend.DispatchSampling()
    status = 1  # From here on, an exception is the bug.
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
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
