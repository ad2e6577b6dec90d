"""[TIRx] VerifyMemory accepts an illegal access: host code touches memory of a device

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1(T7: T.Buffer((T.int64(1),), "float32")):
        T7[T.int64(0)] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim1, R.tuple(), out_ty=R.Tensor((1,), dtype="float32"))
        return a

with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
    mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(Module)
mod = tirx.transform.FlattenBuffer()(mod)
try:
    after = tirx.transform.VerifyMemory()(mod)
    refused = False
except RuntimeError:
    refused = True
assert refused, "host code touches memory of a device"
print("the bug is gone", flush=True)
