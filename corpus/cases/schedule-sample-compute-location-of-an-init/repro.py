"""[S-TIR] Schedule[decompose_reduction+tensorize+compute_at+sample_compute_location] raises InternalError: Check...

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
    def prim(A1: T.Buffer((T.int64(8), T.int64(16)), "float32"), W4: T.Buffer((T.int64(16), T.int64(16)), "float32"), T16: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        # with T.sblock("root"):
        R9 = T.sblock_alloc_buffer((T.int64(8), T.int64(16)))
        for i10, i11, i12 in T.grid(T.int64(8), T.int64(16), T.int64(16)):
            with T.sblock("mm5"):
                v6, v7, k8 = T.axis.remap("SSR", [i10, i11, i12])
                T.reads(A1[v6, k8], W4[k8, v7])
                T.writes(R9[v6, v7])
                with T.init():
                    R9[v6, v7] = T.float32(0.0)
                R9[v6, v7] = R9[v6, v7] + A1[v6, k8] * W4[k8, v7]
        with T.sblock("half13"):
            v14 = T.axis.spatial(T.int64(1), T.int64(0))
            v15 = T.axis.spatial(T.int64(1), T.int64(0))
            T.reads(R9[v14, v15])
            T.writes(T16[v14, v15])
            T16[v14, v15] = R9[v14, v15]

    @R.function
    def main(x: R.Tensor((8, 16), dtype="float32"), y: R.Tensor((16, 16), dtype="float32")) -> R.Tensor((8, 16), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((8, 16), dtype="float32"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')

    @T.prim_func(s_tir=True)
    def described(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (8, 16), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (16, 16), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (8, 16), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:8, 0:16], A[0:8, 0:16], B[0:16, 0:16])
            T.writes(C[0:8, 0:16])
            for i, j, k in T.grid(8, 16, 16):
                with T.sblock("update"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(s_tir=True)
    def done(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (8, 16), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (16, 16), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (8, 16), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:8, 0:16], A[0:8, 0:16], B[0:16, 0:16])
            T.writes(C[0:8, 0:16])
            for i, j in T.grid(8, 16):
                for k in T.unroll(16):
                    C[i, j] = C[i, j] + A[i, k] * B[k, j]

    tvm.s_tir.TensorIntrin.register("passfuzz.dot_8x16x16_float32_float32_float32_unrolled", described, done,
        override=True)
    sch.decompose_reduction(sch.get_sblock("mm5"), sch.get_loops(sch.get_sblock("mm5"))[0])
    sch.tensorize(sch.get_loops(sch.get_sblock("mm5_update"))[0], "passfuzz.dot_8x16x16_float32_float32_float32_unrolled")
    sch.compute_at(sch.get_sblock("mm5_init"), sch.sample_compute_location(sch.get_sblock("mm5_init"), decision=-1))

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
