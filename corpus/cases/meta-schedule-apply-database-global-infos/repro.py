"""[Relax] MetaScheduleApplyDatabase drops an attribute or a public function: global info vdevice is gone

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global")]})
    @R.function
    def main(x: R.Tensor((), dtype="float32", vdevice="llvm:0:global")) -> R.Tensor((), dtype="float32", vdevice="llvm:0:global"):
        return x

before = Module
with tvm.target.Target("llvm"):
    records = tvm.s_tir.meta_schedule.database.MemoryDatabase()
    for g, f in before.functions.items():
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
                tvm.s_tir.meta_schedule.search_strategy.ReplayTrace(max_fail_count=5), 'main', 1, 1, lambda *line: None)
            tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
            context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=1))
            for found in list(context.generate_measure_candidates() or ())[-1:]:
                records.commit_tuning_record(tvm.s_tir.meta_schedule.database.TuningRecord(found.sch.trace,
                    records.commit_workload(of), [1.0], tvm.target.Target({"kind": "llvm", "num-cores": 4})))
    records.__enter__()
    out = relax.transform.MetaScheduleApplyDatabase()(before)
    records.__exit__(None, None, None)
    after = out
def attrs(node):
    return {key: str(node.attrs[key]) for key in node.attrs.keys()} if node.attrs else {}

for key in [*attrs(before), *before.global_infos]:
    assert key in attrs(after) or key in after.global_infos, f"module attribute or global info {key} is gone"
left = {g.name_hint: f for g, f in after.functions.items()}
for name, function in [(g.name_hint, f) for g, f in before.functions.items() if "global_symbol" in attrs(f)]:
    assert name in left, f"public function {name} is gone"
    for key, value in attrs(function).items():
        now = attrs(left[name]).get(key, "gone")
        assert now == value, f"attribute {key} of {name} was {value} and is {now}"
print("the bug is gone", flush=True)
