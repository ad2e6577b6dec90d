"""[S-TIR] ConvertSSA gives an ill-formed module: PrimFunc twin: InternalError: TIR is ill-formed: buffer T4 is used at...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(n: T.int64):
        # with T.sblock("root"):
        T4 = T.sblock_alloc_buffer((n,), "uint8")
        with T.sblock("map2"):
            i5 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T4[i5])
            T4[i5] = T.uint8(1)

    @T.prim_func(private=True, s_tir=True)
    def twin(n: T.int64):
        # with T.sblock("root"):
        T4 = T.sblock_alloc_buffer((n,), "uint8")
        with T.sblock("map2"):
            i5 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T4[i5])
            T4[i5] = T.uint8(1)

    @R.function
    def main(x: R.Tuple(R.Tensor((), dtype="uint8"))) -> R.Tuple(R.Tensor((), dtype="uint8")):
        return x

Module["twin"] = Module["prim"]

after = s_tir.transform.ConvertSSA()(Module)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
