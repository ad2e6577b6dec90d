"""[LLVM] tvm.compile raises InternalError: Check failed: scope.run_sizes.shape_stack == -1 (1 vs. -1) : Expect no...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
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
import tvm_ffi
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(V8: T.Buffer((1, 1), "float32")):
        # with T.sblock("root"):
        V2 = T.sblock_alloc_buffer((1, 1), scope="global.vtcm")
        V2[0, 0] = T.float32(1.0)
        V8[0, 0] = T.float32(1.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float32"))
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


Module["prim"] = laid_out(Module["prim"], "V8")

def show():
    global status
    mod = Module
    status = 1  # From here on, an exception is the bug.
    tvm.compile(mod, tvm.target.Target("llvm"))

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
