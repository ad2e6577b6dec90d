"""[MetaSchedule] ReplayTrace[hexagon] raises ScheduleError: An error occurred in the schedule primitive 'split': The...

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
import tvm_ffi
from tvm.script import ir as I, relax as R, tirx as T
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dead_prim(W3: T.Buffer((1, 1), "int64"), R8: T.Buffer((1, 1), "int64")):
        # with T.sblock("root"):
        for i9 in range(1, 2):
            for i10, i11 in T.grid(1, 1):
                with T.sblock("mm4"):
                    v5, v6, k7 = T.axis.remap("SSR", [i9, i10, i11])
                    T.reads(W3[v6, k7])
                    T.writes(R8[v5, v6])
                    R8[v5, v6] = W3[v6, k7]

    @R.function
    def main(x: R.Tensor((), dtype="float16")) -> R.Tensor((), dtype="float16"):
        return x


def laid_out(function, *names):
    """The function with these buffers in row-major layout. TVMScript has no layouts where `s_tir=True`."""
    buffers = {}
    def renewed(var):
        if var.name in names and var.name not in buffers:
            ty = var.ty
            where = ty.strides, ty.elem_offset, ty.storage_scope, ty.data_alignment, ty.offset_factor
            buffers[var.name] = tvm.tirx.decl_buffer(ty.shape, ty.dtype, var.name, None, *where)
        return buffers.get(var.name, var)
    return tvm_ffi.structural_map(function, (tvm.tirx.Var, renewed))


Module["dead_prim"] = laid_out(Module["dead_prim"], "R8")

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
                    "num-cores": 4}), tvm.s_tir.meta_schedule.space_generator.PostOrderApply(sch_rules="hexagon",
                    postprocs="llvm", mutator_probs={}),
                    tvm.s_tir.meta_schedule.search_strategy.ReplayTrace(max_fail_count=5), 'main', 1, 8, lambda *line: None)
                tvm.s_tir.meta_schedule._ffi_api.TuneContextInitialize(context)
                context.pre_tuning(2, 2, context.generate_design_space(), tvm.s_tir.meta_schedule.database.MemoryDatabase(),
                    tvm.s_tir.meta_schedule.cost_model.RandomModel(seed=8))
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
