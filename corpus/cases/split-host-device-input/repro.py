"""[TIRx] SplitHostDevice changes the module that it is given: the pass changed the module it was given, and gave back...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A2: T.Buffer((T.int64(1), T.int64(1)), "float8_e4m3fn"), T3: T.Buffer((T.int64(1), T.int64(1)), "float8_e4m3fn")):
        # with T.sblock("root"):
        for i7, i8 in T.grid(T.int64(1), T.int64(1)):
            with T.sblock("narrow4"):
                v5, v6 = T.axis.remap("SS", [i7, i8])
                T.reads()
                T.writes(T3[v5, v6])
                T3[v5, v6] = T.float8_e4m3fn(1.0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float8_e4m3fn")) -> R.Tensor((1, 1), dtype="float8_e4m3fn"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1, 1), dtype="float8_e4m3fn"))
        return a

with TARGET:
    mod = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
        tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(),
        tvm.s_tir.dlight.gpu.Fallback())(Module)
mod = relax.transform.AttachGlobalSymbol()(mod)
with TARGET:
    mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
mod = s_tir.transform.LowerOpaqueBlock()(mod)
before = mod
text = before.script(show_meta=True)
after = tirx.transform.SplitHostDevice()(before)
assert before.script(show_meta=True) == text, "the pass changed the module that it was given"
print("the bug is gone", flush=True)
