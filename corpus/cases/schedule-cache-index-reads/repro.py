"""[S-TIR] Schedule[cache_index+cache_write] gives a module that reads uninitialized memory

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
from tvm.runtime import tensor
from tvm import relax, s_tir, tirx
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A2: T.Buffer((1,), "float64"), T5: T.Buffer((1,), "float64")):
        # with T.sblock("root"):
        for i6 in range(1):
            with T.sblock("div3"):
                v4 = T.axis.spatial(1, i6)
                T.reads(A2[T.FloorDiv(1, 2)])
                T.writes(T5[v4])
                T5[v4] = A2[v4 // 2] - A2[T.FloorMod(0, 1)]

    @R.function
    def main(x: R.Tensor((1,), dtype="float64")) -> R.Tensor((1,), dtype="float64"):
        cls = Module
        a = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((1,), dtype="float64"))
        return a

def show():
    sch = tvm.s_tir.Schedule(Module)
    sch.work_on('prim')
    sch.cache_index(sch.get_sblock("div3"), "global")
    sch.cache_write(sch.get_sblock("index_0"), 0, "local")
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
    got = vm["main"](tensor(np.array([1.0], "float64"))).numpy()
    want = np.array([0.0], "float64")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = ~np.isclose(got, want, rtol=0, atol=0.0, equal_nan=True)
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
