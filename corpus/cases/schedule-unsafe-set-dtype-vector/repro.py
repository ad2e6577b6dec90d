"""[S-TIR] Schedule[decompose_reduction+tensorize+unsafe_set_dtype] raises InternalError: Check failed:...

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
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(W9: T.Buffer((T.int64(4), T.int64(16)), "float32"), T6: T.Buffer((T.int64(4), T.int64(4)), "float32"), T28: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        # with T.sblock("root"):
        R14 = T.sblock_alloc_buffer((T.int64(4), T.int64(16)))
        for i15, i16, i17 in T.grid(T.int64(4), T.int64(16), T.int64(4)):
            with T.sblock("mm10"):
                v11, v12, k13 = T.axis.remap("SSR", [i15, i16, i17])
                T.reads(T6[v11, k13], W9[k13, v12])
                T.writes(R14[v11, v12])
                with T.init():
                    R14[v11, v12] = T.float32(1.0)
                R14[v11, v12] = R14[v11, v12] + T6[v11, k13] * W9[k13, v12]
        with T.sblock("tile18"):
            v19 = T.axis.spatial(T.int64(1), T.int64(0))
            v20 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads()
            T.writes(T28[v19, T.int64(1):T.int64(3)])
            Q22 = T.match_buffer(R14[v19, T.int64(0):T.int64(2)], (T.int64(1), T.int64(2)), strides=("s23", "s24"), offset_factor=1)
            T28[v19, T.int64(0)] = T.float32(1.0)

    @R.function
    def main(x: R.Tensor((4, 16), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 16), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((4, 16), dtype="float32"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')

    @T.prim_func(s_tir=True)
    def described(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (4, 4), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (4, 16), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (4, 16), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:4, 0:16], A[0:4, 0:4], B[0:4, 0:16])
            T.writes(C[0:4, 0:16])
            for i, j, k in T.grid(4, 16, 4):
                with T.sblock("update"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(s_tir=True)
    def done(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (4, 4), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (4, 16), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (4, 16), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:4, 0:16], A[0:4, 0:4], B[0:4, 0:16])
            T.writes(C[0:4, 0:16])
            for i, k in T.grid(4, 4):
                C[i, T.Ramp(0, 1, 16)] = C[i, T.Ramp(0, 1, 16)] + T.Broadcast(A[i, k], 16) * B[k, T.Ramp(0, 1, 16)]

    tvm.s_tir.TensorIntrin.register("passfuzz.dot_4x16x4_float32_float32_float32_vector", described, done, override=True)
    sch.decompose_reduction(sch.get_sblock("mm10"), sch.get_loops(sch.get_sblock("mm10"))[0])
    sch.tensorize(sch.get_loops(sch.get_sblock("mm10_update"))[0], "passfuzz.dot_4x16x4_float32_float32_float32_vector")
    sch.unsafe_set_dtype(sch.get_sblock("mm10_update_o"), 0, "float64")

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
