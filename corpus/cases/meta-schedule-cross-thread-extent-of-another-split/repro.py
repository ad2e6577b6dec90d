"""[S-TIR] meta_schedule.ReplayTrace[cuda] raises IndexError: Index 6 out of bounds 6

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
    def prim1(W20: T.Buffer((T.int64(1), T.int64(1)), "int64"), R25: T.Buffer((T.int64(2), T.int64(1)), "int64")):
        # with T.sblock("root"):
        R16 = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "int64")
        for i17, i18, i19 in T.grid(T.int64(2), T.int64(1), T.int64(2)):
            with T.sblock("win12"):
                v13, v14, k15 = T.axis.remap("SSR", [i17, i18, i19])
                T.reads()
                T.writes(R16[v13, v14])
                with T.init():
                    R16[v13, v14] = T.int64(-9223372036854775808)
                T.evaluate(0)
        for i26, i27, i28 in T.grid(T.int64(2), T.int64(1), T.int64(1)):
            with T.sblock("mm21"):
                v22, v23, k24 = T.axis.remap("SSR", [i26, i27, i28])
                T.reads(R16[v22, k24], W20[v23, k24])
                T.writes(R25[v22, v23])
                with T.init():
                    R25[v22, v23] = T.int64(0)
                R25[v22, v23] = R16[v22, k24] * W20[v23, k24]

    @R.function
    def main(x: R.Tensor((1, 1), dtype="int64")) -> R.Tensor((2, 1), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim1, (x,), out_ty=R.Tensor((2, 1), dtype="int64"))
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
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
                    mutator_probs={}), tvm.s_tir.meta_schedule.search_strategy.ReplayTrace(max_fail_count=5), 'main', 1, 1,
                    lambda *line: None)
                tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
                context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                    tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=1))
                sch = tvm.s_tir.Schedule(of)
                for found in list(context.generate_measure_candidates() or ())[-1:]:
                    tvm.s_tir.schedule.Trace.apply_json_to_schedule(found.sch.trace.as_json(), sch)
                    out.update_func(g, sch.mod['main'].with_attr('tirx.is_scheduled', True))

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
