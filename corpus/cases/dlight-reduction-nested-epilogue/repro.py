"""[DLight] gpu.Reduction raises ScheduleError: An error occurred in the schedule primitive 'reverse-compute-at':...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
status = [2]
sys.excepthook = hook = lambda *why: (sys.__excepthook__(*why), print(repr(why[1]), flush=True), os._exit(*status))
import tvm
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = hook  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(W8: T.Buffer((T.int64(2), T.int64(1)), "float16"), T22: T.Buffer((T.int64(2), T.int64(1)), "float16")):
        # with T.sblock("root"):
        R13 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)))
        for i14, i15, i16 in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("mm9"):
                v10, v11, k12 = T.axis.remap("SSR", [i14, i15, i16])
                T.reads(W8[k12, v11])
                T.writes(R13[v10, v11])
                with T.init():
                    R13[v10, v11] = T.float32(0.0)
                R13[v10, v11] = R13[v10, v11] + T.Cast("float32", W8[k12, v11])
        for i25 in range(T.int64(1)):
            with T.sblock("tile17"):
                v18 = T.axis.spatial(T.int64(1), T.int64(0))
                v19 = T.axis.spatial(T.int64(1), i25)
                T.reads()
                T.writes(T22[v18, T.int64(1):T.int64(5)])
                with T.sblock("inner20"):
                    v21 = T.axis.spatial(T.int64(1), T.int64(0))
                    T.reads()
                    T.writes(T22[v18, T.int64(0)])
                    T22[v18, T.int64(0)] = T.float16(1.0)

    @R.function
    def main(x: R.Tensor((2, 1), dtype="float16")) -> R.Tensor((2, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 1), dtype="float16"))
        return a

def show():
    transform = tvm.transform.module_pass(lambda mod,
        ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Reduction())(mod.clone()), opt_level=0)
    status[0] = 1  # From here on, an exception is the bug.
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
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
