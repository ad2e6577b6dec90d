"""[S-TIR] Schedule[loop_partition+reindex_cache_read] gives a module that reads uninitialized memory

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys

if os.environ.get("MALLOC_PERTURB_") != "177":  # Unwritten memory holds 0x4e, a large number as a float.
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_PERTURB_": "177"})

finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(S18: T.Buffer((7,), "float32")):
        # with T.sblock("root"):
        T7 = T.sblock_alloc_buffer((7,))
        for i8 in range(7):
            with T.sblock("map5"):
                v6 = T.axis.spatial(7, i8)
                T.reads()
                T.writes(T7[v6])
                T7[v6] = T.float32(1.0)
        with T.sblock("scan19"):
            o20 = T.axis.opaque(1, 0)
            T.reads(S18[0], T7[o20])
            T.writes(S18[o20])
            S18[o20] = T7[o20]

    @R.function
    def main() -> R.Tensor((7,), dtype="float32"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((7,), dtype="float32"))
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.loop_partition(sch.get_loops(sch.get_sblock("map5"))[0], factors=[5, None])
    sch.reindex_cache_read(sch.get_sblock("scan19"), 1, "local", lambda i: (i,))
    mod = sch.mod
    import math

    def filled(mod):  # What PrimFuncs allocate holds 0x4e as well; it may hold anything.
        def write(buffer):
            dtype = tvm.DataType(buffer.dtype)
            size = math.prod(buffer.shape, start=tirx.const(dtype.bits * dtype.lanes, "int64")) // 8
            return tirx.Evaluate(tirx.call_extern("int32", "memset", buffer.data, 0x4e, size))

        def in_block(block):
            if not len(block.alloc_buffers):
                return block
            body = tirx.SeqStmt([*map(write, block.alloc_buffers), block.body])
            before = (block.iter_vars, block.reads, block.writes, block.name_hint)
            return s_tir.SBlock(*before, body, block.init, block.alloc_buffers, block.match_buffers, block.annotations)

        def in_sequence(sequence):
            pairs = [[one, write(one.buffer)] if isinstance(one, tirx.AllocBuffer) else [one] for one in sequence.seq]
            return tirx.SeqStmt([one for pair in pairs for one in pair])

        result = mod.clone()
        for name, function in mod.functions.items():
            if isinstance(function, tirx.PrimFunc):
                changes = [(s_tir.SBlock, in_block), (tirx.SeqStmt, in_sequence)]
                result[name] = function.with_body(tvm_ffi.structural_map(function.body, changes))
        return result

    mod = filled(mod)
    vm = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
    got = vm["main"]().numpy()
    want = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "float32")
    tolerance = np.array([0.0, float("inf"), float("inf"), float("inf"), float("inf"), float("inf"), float("inf")], "float64")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    tolerance = np.broadcast_to(tolerance, want.shape)
    defined = np.isfinite(tolerance)  # Elsewhere any value is right.
    got, want, tolerance = got[defined], want[defined], tolerance[defined]
    wrong = ~np.isclose(got, want, rtol=0, atol=tolerance, equal_nan=True)
    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"

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
