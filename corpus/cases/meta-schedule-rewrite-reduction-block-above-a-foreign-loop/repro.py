"""[Relax] MetaScheduleApplyDatabase gives wrong numbers for std

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import numpy as np
import tvm
from tvm.runtime import tensor
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

TARGET = tvm.target.Target("llvm")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((1,), dtype="float32"):
        a: R.Tensor((1,), dtype="float32") = R.std(x, axis=None, keepdims=True)
        return a

def show():
    mod = relax.transform.LegalizeOps()(Module)
    with TARGET:
        records = tvm.s_tir.meta_schedule.database.MemoryDatabase()
        for g, f in mod.functions.items():
            if (
                isinstance(f, tvm.tirx.PrimFunc)
                and 'gpu' not in tvm.target.Target.current().keys
                and all(isinstance(n, tvm.tirx.IntImm) for p in f.params for n in getattr(getattr(p, 'ty', p), 'shape', (p,)))
                and not any(mark in f.script() for mark in ('T.parallel(', 'T.vectorized(', 'T.unroll(', 'T.thread_binding(',
                    'annotations=', 'T.sblock_attr(', 'tirx.is_scheduled'))
            ):
                of = tvm.get_global_func('tvm.s_tir.meta_schedule.normalize_mod')(f)
                context = tvm.s_tir.meta_schedule._ffi_api.TuneContext(of, tvm.target.Target({"kind": "llvm",
                    "num-cores": 4}), tvm.s_tir.meta_schedule.space_generator.PostOrderApply(sch_rules="llvm",
                    postprocs="llvm", mutator_probs={}),
                    tvm.s_tir.meta_schedule.search_strategy.ReplayTrace(max_fail_count=5), 'main', 1, 8, lambda *line: None)
                tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
                context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                    tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=8))
                for found in list(context.generate_measure_candidates() or ())[-1:]:
                    records.commit_tuning_record(tvm.s_tir.meta_schedule.database.TuningRecord(found.sch.trace,
                        records.commit_workload(of), [1.0], tvm.target.Target({"kind": "llvm", "num-cores": 4})))
        records.__enter__()
        out = relax.transform.MetaScheduleApplyDatabase()(mod)
        records.__exit__(None, None, None)
        mod = out
    vm = relax.VirtualMachine(tvm.compile(mod, TARGET), tvm.cpu())
    got = vm["main"](tensor(np.full(2, 1.0, "float32"))).numpy()
    want = np.array([0.0], "float32")
    kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
    assert kinds[0] == kinds[1], f"the output is {kinds[0]} instead of {kinds[1]}"
    wrong = ~np.isclose(got, want, rtol=0, atol=1.7966112861853596e-06, equal_nan=True)
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
