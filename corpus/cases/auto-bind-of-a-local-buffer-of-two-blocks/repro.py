"""[MetaSchedule] EvolutionarySearch[cuda] gives a module that reads uninitialized memory

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
sys.modules["torch"] = None  # TVM would ask PyTorch for devices here, and the child could not use one.
import shutil
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
sys.modules.pop("torch")
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim2(T24: T.Buffer((1,), "int32")):
        # with T.sblock("root"):
        R18 = T.sblock_alloc_buffer((1,), "int32", scope="local")
        with T.sblock("red14"):
            T.reads()
            T.writes(R18[0])
            with T.init():
                R18[0] = -2147483648
            T.evaluate(0)
        with T.sblock("both22"):
            T.reads(R18[0])
            T.writes(T24[0])
            T24[0] = R18[0]

    @R.function
    def main() -> R.Tensor((1,), dtype="int32"):
        cls = Module
        a = R.call_tir(cls.prim2, R.tuple(), out_ty=R.Tensor((1,), dtype="int32"))
        return a

def show():
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    device = tvm.cuda()
    if not device.exist or shutil.which("nvcc") is None:
        print("this needs a CUDA device and nvcc", flush=True)
        finished[0] = 1
        os._exit(2)
    HERE = tvm.target.Target({"kind": "cuda", "arch": f"sm_{device.compute_version.replace('.', '')}"}, host="llvm")

    def on_device(array):
        return tvm.runtime.tensor(array, device)

    with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
        out = Module.clone()
        for g, f in Module.functions.items():
            if (
                isinstance(f, tvm.tirx.PrimFunc)
                and 'gpu' in tvm.target.Target.current().keys
                and all(isinstance(n, tvm.tirx.IntImm) for p in f.params for n in getattr(getattr(p, 'ty', p), 'shape', (p,)))
                and not any(mark in f.script() for mark in ('T.parallel(', 'T.vectorized(', 'T.unroll(', 'T.thread_binding(',
                    'annotations=', 'T.sblock_attr(', 'tirx.is_scheduled'))
            ):
                of = tvm.IRModule({'main': f})
                context = tvm.s_tir.meta_schedule._ffi_api.TuneContext(of, tvm.target.Target({"kind": "cuda", "arch": "sm_90",
                    "max_threads_per_block": 1024, "max_shared_memory_per_block": 49152, "thread_warp_size": 32}),
                    tvm.s_tir.meta_schedule.space_generator.PostOrderApply(sch_rules="cuda", postprocs="cuda",
                    mutator_probs={tvm.s_tir.meta_schedule.mutator.MutateUnroll(): 1.0}),
                    tvm.s_tir.meta_schedule.search_strategy.EvolutionarySearch(population_size=6, init_min_unmeasured=2,
                    max_fail_count=5, genetic_num_iters=1, genetic_max_fail_count=5), 'main', 1, 2, lambda *line: None)
                tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
                context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                    tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=2))
                sch = tvm.s_tir.Schedule(of)
                for found in list(context.generate_measure_candidates() or ())[-1:]:
                    tvm.s_tir.schedule.Trace.apply_json_to_schedule(found.sch.trace.as_json(), sch)
                    out.update_func(g, sch.mod['main'].with_attr('tirx.is_scheduled', True))
        mod = out
    vm = relax.VirtualMachine(tvm.compile(mod, HERE), device)
    got = vm["main"]().numpy()
    want = np.array([-2147483648], "int32")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = got != want
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
