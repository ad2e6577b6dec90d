"""[S-TIR] Schedule[compute_at+reindex_cache_read] gives an ill-formed module: PrimFunc prim: InternalError:...

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

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(T5: T.Buffer((T.int64(1), T.int64(2)), "float16"), T25: T.Buffer((T.int64(2), T.int64(1)), "float16")):
        # with T.sblock("root"):
        T19 = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "float16")
        for i20 in range(T.int64(2)):
            with T.sblock("map15"):
                v16 = T.axis.spatial(T.int64(2), i20)
                v17 = T.axis.spatial(T.int64(1), T.int64(0))
                T.reads(T5[v17, v16])
                T.writes(T19[v16, v17])
                T19[v16, v17] = T5[v17, v16]
        for i26 in range(T.int64(2)):
            with T.sblock("map22"):
                v23 = T.axis.spatial(T.int64(2), i26)
                T.reads(T19[T.int64(0):v23 + T.int64(1), T.int64(0)])
                T.writes(T25[v23, T.int64(0)])
                T25[v23, T.int64(0)] = T19[T.int64(0), T.int64(0)]

    @R.function
    def main(x: R.Tensor((1, 2), dtype="float16")) -> R.Tensor((2, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 1), dtype="float16"))
        return a

sch = tvm.s_tir.Schedule(Module)
sch.work_on('prim')
sch.compute_at(sch.get_sblock("map15"), sch.get_loops(sch.get_sblock("map22"))[0])
sch.reindex_cache_read(sch.get_sblock("map15"), 0, "global", lambda i, j: (i, j,))
after = sch.mod
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
