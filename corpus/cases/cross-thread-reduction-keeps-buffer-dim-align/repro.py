"""[S-TIR] CompactBufferAllocation raises InternalError: vector::_M_range_check: __n (which is 1) >= this->size()...

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
from tvm import s_tir
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(T14: T.Buffer((T.int64(1), T.int64(1)), "float16")):
        # with T.sblock("root"):
        R7 = T.sblock_alloc_buffer((T.int64(1), T.int64(1)), "int32")
        for i8, i9, i10 in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("win3"):
                v4, v5, k6 = T.axis.remap("SSR", [i8, i9, i10])
                T.reads()
                T.writes(R7[v4, v5])
                T.sblock_attr({"buffer_dim_align": [[0, 1, 16, 0]]})
                with T.init():
                    R7[v4, v5] = -2147483648
                R7[v4, v5] = T.max(R7[v4, v5], 1)
        for i15, i16 in T.grid(T.int64(1), T.int64(1)):
            with T.sblock("map11"):
                v12, v13 = T.axis.remap("SS", [i15, i16])
                T.reads()
                T.writes(T14[v12, v13])
                T14[v12, v13] = T.float16(1.0)

    @R.function
    def main() -> R.Tensor((1, 1), dtype="float16"):
        cls = Module
        a = R.call_tir(cls.prim2, R.tuple(), out_ty=R.Tensor((1, 1), dtype="float16"))
        return a

def show():
    global status
    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
        mod = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
            tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(),
            tvm.s_tir.dlight.gpu.Fallback())(Module)
    mod = s_tir.transform.LowerCrossThreadReduction()(mod)
    mod = s_tir.transform.LowerInitBlock()(mod)
    mod = s_tir.transform.ConvertBlocksToOpaque()(mod)
    transform = s_tir.transform.CompactBufferAllocation()
    status = 1  # From here on, an exception is the bug.
    transform(mod)

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
