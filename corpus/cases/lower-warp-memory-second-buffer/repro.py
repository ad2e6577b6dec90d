"""[TIRx] LowerWarpMemory changes its own result when it is applied again: second application changes a function

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T10: T.Buffer((1, 2), "int8")):
        for i1 in T.thread_binding(1, thread="blockIdx.x"):
            for i5 in T.thread_binding(2, thread="threadIdx.x"):
                S8 = T.alloc_buffer((2,), "int32", scope="warp")
                S8[i5] = 1
                S9 = T.alloc_buffer((2,), scope="warp")
                S9[i5] = T.float32(1.0)
                T10[i1, i5] = T.if_then_else(S9[0] >= T.float32(-1.0), T.int8(-5), T.int8(1))

    @R.function
    def main() -> R.Tensor((1, 2), dtype="int8"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 2), dtype="int8"))
        return a

with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
    mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(Module)
mod = s_tir.transform.LowerOpaqueBlock()(mod)
mod = tirx.transform.StorageRewrite()(mod)
after = tirx.transform.LowerWarpMemory()(mod)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

again = tirx.transform.LowerWarpMemory()(after)
assert not mismatch(after, again), f"the second application changes the module: {mismatch(after, again)}"
print("the bug is gone", flush=True)
