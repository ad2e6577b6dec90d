"""FuseOps moves a call above the match_cast that defines its symbol

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True,s_tir=True)
    def ident(A: T.Buffer((4,),"float32"), B: T.Buffer((4,),"float32")):
        T.func_attr({"op_pattern":0})
        for i in range(4):
            with T.sblock("b"):
                v=T.axis.spatial(4,i)
                B[v]=A[v]
    @T.prim_func(private=True,s_tir=True)
    def fill(A: T.Buffer((4,),"float32"), b: T.handle):
        T.func_attr({"op_pattern":0})
        n=T.int64()
        B=T.match_buffer(b,(n,),"float32")
        for i in range(n):
            with T.sblock("b"):
                v=T.axis.spatial(n,i)
                B[v]=A[0]
    @R.function
    def main(x: R.Tensor((4,),"float32"), y: R.Tensor("float32",ndim=1)):
        cls = Module
        s1 = T.int64()
        with R.dataflow():
            a = R.call_tir(cls.ident, (x,), out_ty=R.Tensor((4,),"float32"))
            b = R.match_cast(y, R.Tensor((s1,),"float32"))
            d = R.call_tir(cls.fill, (a,), out_ty=R.Tensor((s1,),"float32"))
            R.output(d)
        return d

after = relax.transform.FuseOps()(Module)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
