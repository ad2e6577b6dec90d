"""[TIRx] SplitHostDevice gives an ill-formed module: PrimFunc prim1_kernel: InternalError: ValueError: Invalid use of...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim1(A2: T.Buffer((1, 1), "float32", offset_factor=1), S6: T.Buffer((2,), "float32")):
        for i5 in T.thread_binding(1, thread="threadIdx.x"):
            S6[i5] = A2[0, 0]

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((2,), dtype="float32"))
        return a


def laid_out(function, *names):
    """The function with these buffers in row-major layout. TVMScript has no layouts where `s_tir=True`."""
    buffers = {}
    def renewed(var):
        if var.name in names and var.name not in buffers:
            ty = var.ty
            where = ty.strides, ty.elem_offset, ty.storage_scope, ty.data_alignment, ty.offset_factor
            buffers[var.name] = tvm.tirx.decl_buffer(ty.shape, ty.dtype, var.name, None, *where)
        return buffers.get(var.name, var)
    return tvm_ffi.structural_map(function, (tvm.tirx.Var, renewed))


Module["prim1"] = laid_out(Module["prim1"], "S6")

mod = relax.transform.AttachGlobalSymbol()(Module)
with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
    mod = tirx.transform.BindTarget(tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current()))(mod)
mod = s_tir.transform.LowerOpaqueBlock()(mod)
after = tirx.transform.SplitHostDevice()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
