"""[S-TIR] InferFragment gives an ill-formed module: PrimFunc prim: InternalError: ValueError: Invalid use of undefined...

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
    def prim(A4: T.Buffer((1, 1), "float16"), A5: T.Buffer((1, 1), "float16"), T6: T.Buffer((1, 1), "float16")):
        with T.sblock("root"):
            T.reads()
            T.writes()
            with T.sblock("product21"):
                T.reads(A4[0, 0], A5[0, 0])
                T.writes(T6[0, 0])
                S7 = T.sblock_alloc_buffer((1, 1), "float16", scope="wmma.matrix_a")
                S8 = T.sblock_alloc_buffer((1, 1), "float16", scope="wmma.matrix_b")
                S9 = T.sblock_alloc_buffer((1, 1), "float16", scope="wmma.accumulator")
                T.tvm_load_matrix_sync(S7.data, 1, 1, 1, 1, T.call_intrin("handle", "tirx.tvm_access_ptr", T.float16(1.0), A4.data, 1, 256, 1), 1, "row_major")
                T.tvm_load_matrix_sync(S8.data, 1, 1, 1, 1, T.call_intrin("handle", "tirx.tvm_access_ptr", T.float16(1.0), A5.data, 1, 256, 1), 1, "col_major")
                T.tvm_fill_fragment(S9.data, 1, 1, 1, 1, T.float16(0.0))
                T.tvm_mma_sync(S9.data, 1, S7.data, 1, S8.data, 1, S9.data, 1)
                T.tvm_store_matrix_sync(S9.data, 1, 1, 1, 1, T.call_intrin("handle", "tirx.tvm_access_ptr", T.float16(1.0), T6.data, 1, 256, 2), 1, "row_major")

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float16")) -> R.Tensor((1, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim, (x, x), out_ty=R.Tensor((1, 1), dtype="float16"))
        return a

mod = s_tir.transform.LowerOpaqueBlock()(Module)
after = s_tir.transform.InferFragment()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
