"""[Relax] OptimizeLayoutTransform raises KeyError: 'key is not in Map'

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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), add: T.Buffer((16,), "float32")):
        T.func_attr({"operator_name": "passfuzz.add16", "tirx.noalias": True})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def prim3(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), add: T.Buffer((16,), "float32")):
        T.func_attr({"operator_name": "passfuzz.add16", "tirx.noalias": True})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((16,), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim2, (x, x), out_ty=R.Tensor((16,), dtype="float32"))
        b: R.Tensor((16,), dtype="float32") = R.negative(a)
        c = R.call_tir(cls.prim3, (b, b), out_ty=R.Tensor((16,), dtype="float32"))
        return c

Module["prim3"] = Module["prim2"]

def show():
    global status
    mod = relax.transform.LegalizeOps()(Module)
    mod = relax.transform.AlterOpImpl({'passfuzz.add16': (lambda a, b: tvm.te.create_prim_func([a, b, tvm.te.compute((4,
        4), lambda i, j: a[i, j] + b[i, j], name='add_4x4')]).without_attr('global_symbol'))(tvm.te.placeholder((4, 4),
        'float32', name='a'), tvm.te.placeholder((4, 4), 'float32', name='b'))}, {'passfuzz.add16': [lambda i: (i // 4,
        i % 4), lambda i: (i // 4, i % 4), lambda i: (i // 4, i % 4)]})(mod)
    transform = relax.transform.OptimizeLayoutTransform()
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
