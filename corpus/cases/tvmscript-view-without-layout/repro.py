"""[TVMScript] TVMScript does not read back what it writes: script does not parse: 'NoneType' object has no attribute...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
import tvm_ffi
from tvm import s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(S9: T.Buffer((2,), "float32")):
        S5 = T.alloc_shared((2,))
        S6 = T.alloc_buffer((2,), "int64", scope="shared.dyn")
        Y7 = S5.view(1, 1)
        S6[0] = T.Cast("int64", Y7[0, 0])
        S8 = T.alloc_shared((2,), "int32")
        S8[0] = 1
        S9[0] = T.float32(1.0)
        Y11 = S6.view(1, 1)

    @R.function
    def main() -> R.Tensor((2,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2,), dtype="float32"))
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


Module["prim"] = laid_out(Module["prim"], "S9")

mod = tirx.transform.StorageRewrite()(Module)
before = mod
after = s_tir.transform.ThreadSync('shared.dyn')(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
