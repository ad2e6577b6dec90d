"""[Relax] NormalizeGlobalVar gives an ill-typed module: prim_func: no PrimFunc callee15

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
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def callee15(p16: T.handle("int8", "global"), x18: T.int8, x19: T.int64):
        Y17 = T.decl_buffer((T.int64(1),), "int8", data=p16)

    @T.prim_func(private=True, s_tir=True)
    def prim(T25: T.Buffer((T.int64(1), T.int64(1)), "int8")):
        T25[T.int64(0), T.int64(0)] = T.int8(1) >> T.int8(1)
        tvm.ir.Call(Module.callee15, [T.address_of(T25[T.int64(0), T.int64(0)]), T.int8(1), T.int64(1)], ret_ty="void")

    @R.function
    def main() -> R.Tensor((1, 1), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="int8"))
        return a

def show():
    global status
    mod = tvm.transform.Sequential([tvm.transform.module_pass(lambda mod, ctx: (lambda names: tvm.IRModule({g: f.with_attr('global_symbol',
        names[-1]) if g.name_hint == names[0] else f for g, f in mod.functions.items()}, attrs=mod.attrs,
        global_infos=mod.global_infos) if names else mod)(sorted(g.name_hint for g,
        f in mod.functions.items() if not (f.attrs and 'global_symbol' in f.attrs))), opt_level=0),
        relax.transform.NormalizeGlobalVar()])(Module)
    status = 1  # From here on, an exception is the bug.
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.array([[0]], "int8")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = got != want
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
