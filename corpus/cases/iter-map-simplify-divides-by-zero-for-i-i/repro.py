"""[Arith] iter_map_simplify raises InternalError: Check failed: pb->value != 0 (0 vs. 0) : Divide by zero

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm import tirx
import tvm_ffi
from tvm.script import ir as I, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(O5: T.Buffer((T.int64(2), T.int64(2)), "int64")):
        for i4 in range(T.int64(2)):
            O5[T.int64(0), T.int64(0)] = T.LShift(T.int64(5), T.int64(0)) - i4 + i4

def show():
    transform = tirx.transform.prim_func_pass(lambda func, mod, ctx: (ranges := {},
        simple := lambda indices: tvm.sym.iter_map_simplify(indices, ranges, check_level='nocheck'),
        tvm_ffi.structural_map(func, [(tirx.For,
        lambda loop: (ranges.update({loop.loop_var: tvm.ir.Range.from_min_extent(loop.min, loop.extent)}), loop)[1]),
        (tirx.BufferStore, lambda store: tirx.BufferStore(store.buffer, simple([store.value])[0],
        simple(store.indices)) if str(store.value.ty) in ('int32', 'int64') else store)], order='pre'))[-1], opt_level=0,
        name='IterMapSimplify')
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
