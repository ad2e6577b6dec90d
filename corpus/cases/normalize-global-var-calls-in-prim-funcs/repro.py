"""[Relax] NormalizeGlobalVar gives an ill-typed module: prim_func: no PrimFunc callee15

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import numpy as np
import tvm
from tvm import relax
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

# TVMScript cannot say this module exactly; Module.show() prints what it can.
with open(os.path.join(os.path.dirname(__file__), "module.json"), encoding="utf-8") as file:
    Module = tvm.ir.load_json(file.read())

def show():
    mod = tvm.transform.Sequential([tvm.transform.module_pass(lambda mod, ctx: (lambda names: tvm.IRModule({g: f.with_attr('global_symbol',
        names[-1]) if g.name_hint == names[0] else f for g, f in mod.functions.items()}, attrs=mod.attrs,
        global_infos=mod.global_infos) if names else mod)(sorted(g.name_hint for g,
        f in mod.functions.items() if not (f.attrs and 'global_symbol' in f.attrs))), opt_level=0),
        relax.transform.NormalizeGlobalVar()])(Module)
    status[0] = 1  # From here on, an exception is the bug.
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.array([[0]], "int8")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = got != want
    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"

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
