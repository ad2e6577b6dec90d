"""[S-TIR] meta_schedule.ReplayTrace[llvm] raises InternalError: Check failed: (is_scalable_expr &&...

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
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target("llvm")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 1), dtype="float32")) -> R.Tuple(R.Tensor((1, 1, 1), dtype="float32"), R.Tensor((1, 0, 1), dtype="float32")):
        a: R.Tuple(R.Tensor((1, 1, 1), dtype="float32"), R.Tensor((1, 0, 1), dtype="float32")) = R.split(x, indices_or_sections=[2], axis=-2)
        return a

def show():
    global status
    mod = relax.transform.LegalizeOps()(Module)
    with TARGET:
        out = mod.clone()
        for g, f in mod.functions.items():
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
                    tvm.s_tir.meta_schedule.search_strategy.ReplayTrace(max_fail_count=5), 'main', 1, 2, lambda *line: None)
                tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
                context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                    tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=2))
                sch = tvm.s_tir.Schedule(of)
                for found in list(context.generate_measure_candidates() or ())[-1:]:
                    tvm.s_tir.schedule.Trace.apply_json_to_schedule(found.sch.trace.as_json(), sch)
                    out.update_func(g, sch.mod['main'].with_attr('tirx.is_scheduled', True))
        mod = out
    status = 1  # From here on, an exception is the bug.
    tvm.compile(mod, TARGET)

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
