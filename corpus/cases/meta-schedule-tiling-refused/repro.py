"""[S-TIR] meta_schedule.ReplayTrace[llvm] raises ScheduleError: An error occurred in the schedule primitive...

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
    def prim(W13: T.Buffer((T.int64(1), T.int64(1)), "float32"), S3: T.Buffer((T.int64(2),), "int32"), S7: T.Buffer((T.int64(2),), "int32"), R18: T.Buffer((T.int64(2), T.int64(1)), "float64")):
        # with T.sblock("root"):
        with T.sblock("scan8"):
            o9 = T.axis.opaque(T.int64(1), T.int64(0))
            T.reads(S7[T.int64(0)], S3[o9])
            T.writes(S7[o9])
            S7[o9] = S3[o9]
        with T.sblock("whole12"):
            T.reads()
            T.writes(S3[T.int64(0):T.int64(2)])
            S3[T.int64(0)] = T.LShift(1, 3)
        for i19, i20, i21 in T.grid(T.int64(2), T.int64(1), T.int64(1)):
            with T.sblock("mm14"):
                v15, v16, k17 = T.axis.remap("SSR", [i19, i20, i21])
                T.reads(W13[k17, v16])
                T.writes(R18[v15, v16])
                R18[v15, v16] = T.Cast("float64", W13[k17, v16])

    @R.function
    def main(x: R.Tensor((1, 1), dtype="float32"), y: R.Tensor((2,), dtype="int32")) -> R.Tuple(R.Tensor((2,), dtype="int32"), R.Tensor((2, 1), dtype="float64")):
        cls = Module
        a = R.call_tir(cls.prim, (x, y), out_ty=[R.Tensor((2,), dtype="int32"), R.Tensor((2, 1), dtype="float64")])
        return a

def show():
    global status
    status = 1  # From here on, an exception is the bug.
    with tvm.target.Target("llvm"):
        out = Module.clone()
        for g, f in Module.functions.items():
            if (
                isinstance(f, tvm.tirx.PrimFunc)
                and 'gpu' not in tvm.target.Target.current().keys
                and all(isinstance(n, tvm.tirx.IntImm) for p in f.params for n in getattr(getattr(p, 'ty', p), 'shape', (p,)))
                and not any(mark in f.script() for mark in ('T.parallel(', 'T.vectorized(', 'T.unroll(', 'T.thread_binding(',
                    'annotations=', 'T.sblock_attr(', 'tirx.is_scheduled'))
            ):
                of = tvm.IRModule({'main': f})
                context = tvm.s_tir.meta_schedule._ffi_api.TuneContext(of, tvm.target.Target({"kind": "llvm",
                    "num-cores": 4}), tvm.s_tir.meta_schedule.space_generator.PostOrderApply(sch_rules="llvm",
                    postprocs="llvm", mutator_probs={}),
                    tvm.s_tir.meta_schedule.search_strategy.ReplayTrace(max_fail_count=5), 'main', 1, 13, lambda *line: None)
                tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
                context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                    tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=13))
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
