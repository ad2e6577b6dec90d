"""[S-TIR] Schedule[decompose_reduction+tensorize+cache_read] raises InternalError: Check failed: buffer.scope() ==...

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
    def prim(A3: T.Buffer((2, 12), "float32"), W5: T.Buffer((12, 8), "float32"), R10: T.Buffer((2, 8), "float32")):
        # with T.sblock("root"):
        for i11, i12, i13 in T.grid(2, 8, 12):
            with T.sblock("mm6"):
                v7, v8, k9 = T.axis.remap("SSR", [i11, i12, i13])
                T.reads(A3[v7, k9], W5[k9, v8])
                T.writes(R10[v7, v8])
                with T.init():
                    R10[v7, v8] = T.float32(0.0)
                R10[v7, v8] = R10[v7, v8] + A3[v7, k9] * W5[k9, v8]

    @R.function
    def main(x: R.Tensor((2, 12), dtype="float32"), y: R.Tensor((12, 8), dtype="float32")) -> R.Tensor((2, 8), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=R.Tensor((2, 8), dtype="float32"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')

    @T.prim_func(s_tir=True)
    def described(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2, 12), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (12, 8), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (2, 8), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:2, 0:8], A[0:2, 0:12], B[0:12, 0:8])
            T.writes(C[0:2, 0:8])
            for i, j, k in T.grid(2, 8, 12):
                with T.sblock("update"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @T.prim_func(s_tir=True)
    def done(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2, 12), "float32", offset_factor=1, strides=["sa0", "sa1"])
        B = T.match_buffer(b, (12, 8), "float32", offset_factor=1, strides=["sb0", "sb1"])
        C = T.match_buffer(c, (2, 8), "float32", offset_factor=1, strides=["sc0", "sc1"])
        with T.sblock("root"):
            T.reads(C[0:2, 0:8], A[0:2, 0:12], B[0:12, 0:8])
            T.writes(C[0:2, 0:8])
            for i, k in T.grid(2, 12):
                C[i, T.Ramp(0, 1, 8)] = C[i, T.Ramp(0, 1, 8)] + T.Broadcast(A[i, k], 8) * B[k, T.Ramp(0, 1, 8)]

    tvm.s_tir.TensorIntrin.register("passfuzz.dot_2x8x12_float32_float32_float32_vector", described, done, override=True)
    sch.decompose_reduction(sch.get_sblock("mm6"), sch.get_loops(sch.get_sblock("mm6"))[0])
    sch.tensorize(sch.get_loops(sch.get_sblock("mm6_update"))[0], "passfuzz.dot_2x8x12_float32_float32_float32_vector")
    sch.cache_read(sch.get_sblock("mm6_update_o"), 1, "local")

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
