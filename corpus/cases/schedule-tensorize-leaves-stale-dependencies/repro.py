"""[S-TIR] Schedule[decompose_reduction+tensorize+cache_write] crashes in s_tir::CacheWrite

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
    def prim(W8: T.Buffer((T.int64(4), T.int64(4)), "float32"), R13: T.Buffer((T.int64(64), T.int64(4)), "float32")):
        # with T.sblock("root"):
        T5 = T.sblock_alloc_buffer((T.int64(64), T.int64(4)))
        with T.sblock("reshape2"):
            v3 = T.axis.spatial(T.int64(1), T.int64(0))
            v4 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T5[v3, v4])
            T5[v3, v4] = T.float32(1.0)
        for i14, i15, i16 in T.grid(T.int64(64), T.int64(4), T.int64(4)):
            with T.sblock("mm9"):
                v10, v11, k12 = T.axis.remap("SSR", [i14, i15, i16])
                T.reads(T5[v10, k12], W8[k12, v11])
                T.writes(R13[v10, v11])
                with T.init():
                    R13[v10, v11] = T.float32(0.0)
                R13[v10, v11] = R13[v10, v11] + T5[v10, k12] * W8[k12, v11]

    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((64, 4), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((64, 4), dtype="float32"))
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


Module["prim"] = laid_out(Module["prim"], "R13")

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')

    @T.prim_func(s_tir=True)
    def described(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (64, 4), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (4, 4), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (64, 4), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:64, 0:4], A[0:64, 0:4], B[0:4, 0:4])
            T.writes(C[0:64, 0:4])
            for i, j, k in T.grid(64, 4, 4):
                with T.sblock("update"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(s_tir=True)
    def done(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (64, 4), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (4, 4), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (64, 4), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:64, 0:4], A[0:64, 0:4], B[0:4, 0:4])
            T.writes(C[0:64, 0:4])
            for i, k in T.grid(64, 4):
                C[i, T.Ramp(0, 1, 4)] = C[i, T.Ramp(0, 1, 4)] + T.Broadcast(A[i, k], 4) * B[k, T.Ramp(0, 1, 4)]

    tvm.s_tir.TensorIntrin.register("passfuzz.dot_64x4x4_float32_float32_float32_vector", described, done, override=True)
    sch.decompose_reduction(sch.get_sblock("mm9"), sch.get_loops(sch.get_sblock("mm9"))[0])
    sch.tensorize(sch.get_loops(sch.get_sblock("mm9_update"))[0], "passfuzz.dot_64x4x4_float32_float32_float32_vector")
    sch.cache_write(sch.get_sblock("reshape2"), 0, "global")

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
