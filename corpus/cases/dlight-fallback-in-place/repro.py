"""[Relax] ApplyDefaultSchedule raises ScheduleError: An error occurred in the schedule primitive 'bind': The queried...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from typing import TypeVar
import tvm
import tvm_ffi
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(A: T.Buffer((n, m), "float32"), B: T.Buffer((n, m), "float32")):
        # with T.sblock("root"):
        for i, j in T.grid(n, m):
            with T.sblock("add"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.spatial(m, j)
                T.reads(A[vi, vj])
                T.writes(A[vi, vj])
                A[vi, vj] = T.float32(1.0)

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32")) -> R.Tensor((1, 1), dtype="float32"):
        cls = Module
        a: R.Tensor((1, 1), dtype="float32") = R.call_tir_inplace(cls.prim2, (x, x), out_ty=R.Tensor((1, 1), dtype="float32"), inplace_indices=[0])
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


def ranged(function, dtype):
    """The function with constants of this dtype in the ranges of its sblocks, of which TVMScript says none."""
    def constant(expr):
        return tvm.tirx.IntImm(dtype, expr.value) if isinstance(expr, tvm.tirx.IntImm) else expr

    def renewed(given):
        return tvm.ir.Range.from_min_extent(constant(given.min), constant(given.extent))

    return tvm_ffi.structural_map(function, (tvm.ir.Range, renewed))


Module["prim2"] = laid_out(Module["prim2"], "A", "B")
Module["prim2"] = ranged(Module["prim2"], "int32")

def show():
    global status
    transform = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
        tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), tvm.s_tir.dlight.gpu.Fallback())
    status = 1  # From here on, an exception is the bug.
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
        transform(Module)

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
