"""[Relax] LowerAllocTensor raises ValueError: Argument 0 type mismatch: expected R.Tensor((), dtype='float32',...

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
    @R.function(private=True)
    def f(x: R.Tensor((), dtype="float32", vdevice="llvm:0:global")) -> R.Tensor((), dtype="float32", vdevice="llvm:0:global"):
        return x

    @R.function
    def main(x: R.Tensor((), dtype="float32", vdevice="llvm:0:global")) -> R.Tensor((), dtype="float32", vdevice="llvm:0:global"):
        cls = Module
        a: R.Tensor((), dtype="float32", vdevice="llvm:0:global") = R.sqrt(x)
        b: R.Tensor((), dtype="float32", vdevice="llvm:0:global") = cls.f(a)
        return b

def show():
    global status
    mod = relax.transform.LegalizeOps()(Module)
    mod = relax.transform.ToNonDataflow()(mod)
    mod = relax.transform.RemovePurityChecking()(mod)
    mod = relax.transform.CallTIRRewrite()(mod)
    transform = relax.transform.LowerAllocTensor()
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
