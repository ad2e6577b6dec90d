"""[DLight] gpu.Matmul raises AssertionError: There are some consumers of the cache-write stage that are not properly...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(W9: T.Buffer((T.int64(2), T.int64(2)), "int8"), n: T.int64, T21: T.Buffer((n + T.int64(3), T.int64(1)), "int32")):
        # with T.sblock("root"):
        T6 = T.sblock_alloc_buffer((n, T.int64(2)), "int8")
        R14 = T.sblock_alloc_buffer((n, T.int64(2)), "int32")
        for i15, i16, i17 in T.grid(n, T.int64(2), T.int64(2)):
            with T.sblock("mm10"):
                v11, v12, k13 = T.axis.remap("SSR", [i15, i16, i17])
                T.reads(T6[v11, k13], W9[k13, v12])
                T.writes(R14[v11, v12])
                with T.init():
                    R14[v11, v12] = 0
                R14[v11, v12] = T.Cast("int32", T6[v11, k13]) * T.Cast("int32", W9[k13, v12])
        with T.sblock("pad18"):
            v19 = T.axis.spatial(T.int64(2), T.int64(0))
            v20 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(R14[T.int64(0), v20])
            T.writes(T21[v19, v20])
            T21[v19, v20] = R14[T.int64(0), v20]

    @R.function
    def main(x: R.Tensor((2, 2), dtype="int8")) -> R.Tensor((2, 1), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, 2), out_ty=R.Tensor((2, 1), dtype="int32"))
        return a

def show():
    global status
    transform = tvm.transform.module_pass(lambda mod, ctx: tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul())(mod.clone()),
        opt_level=0)
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
