"""[Relax] LegalizeOps raises ValueError: Argument 0 type mismatch: expected T.uint64, given T.int64

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
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

# TVMScript cannot say this module exactly; Module.show() prints what it can.
with open(os.path.join(os.path.dirname(__file__), "module.json"), encoding="utf-8") as file:
    Module = tvm.ir.load_json(file.read())

def show():
    global status
    transform = relax.transform.LegalizeOps()
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
