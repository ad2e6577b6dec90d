"""Passes of TVM 0.27 that are in no row, and why."""

from __future__ import annotations

from generators.passes.row import ExcludedPass

EXCLUDED: dict[str, ExcludedPass] = {
    row.name: row
    for row in (
        ExcludedPass(
            "IPCAllReduceRewrite",
            "returns the module untouched unless runtime.disco.cuda_ipc.custom_allreduce is registered, which only "
            "builds with CUDA and NCCL have",
        ),
        ExcludedPass(
            "MetaScheduleTuneIRMod", "a search that measures candidates on hardware: neither fast nor repeatable"
        ),
        ExcludedPass(
            "MetaScheduleTuneTIR", "a search that measures candidates on hardware: neither fast nor repeatable"
        ),
        ExcludedPass(
            "SplitCallTIRByPattern",
            "its result calls source code that the user's fcodegen writes: what it computes is not in the module",
        ),
        ExcludedPass("VMBuiltinLower", "a deprecated name of LowerRuntimeBuiltin"),
        ExcludedPass("tirx.Apply", "what it does to a function is the caller's own code"),
        ExcludedPass("tirx.Filter", "which functions it drops is the caller's own code"),
        *(
            ExcludedPass(
                name,
                "tile programs alone: they become CUDA kernels with PTX in a pipeline of their own, which has no pass "
                "in common with that of schedulable functions",
            )
            for name in ("tirx.LowerTIRx", "tirx.LowerTIRxOpaque", "tirx.TilePrimitiveDispatch")
        ),
        ExcludedPass(
            "s_tir.DecorateDeviceScope",
            "marks whole bodies for a device that the host part of the pipeline must not split off; no pipeline has it",
        ),
        ExcludedPass("s_tir.InjectPTXLDG32", "its result is PTX, which has a meaning on the device alone"),
        ExcludedPass(
            "s_tir.InstrumentBoundCheckers",
            "looks for the attribute buffer_bound, which nothing of 0.27 writes, so that it changes nothing",
        ),
        ExcludedPass("s_tir.InstrumentProfileIntrinsics", "calls a profiler that only Hexagon's run time has"),
    )
}

_UNREAD = "no pass of 0.27 reads it"
_PROFILER = "of InstrumentProfileIntrinsics, which calls a profiler that only Hexagon's run time has"
_ADDS = "asks tvm.tirx.build for a pass that is excluded"
_LEAVES_OUT = "asks tvm.tirx.build to leave a pass out or construct it otherwise; the pass table has both"

EXCLUDED_OPTIONS: dict[str, str] = {
    "tirx.RemoveNoOp.max_simplification_steps": "a limit for debugging: the pass raises an error where it is exceeded",
    "tirx.RemoveNoOp.ignore_profiler_call": "drops calls of a profiler on purpose",
    "tirx.enable_fast_math": "LowerIntrin calls approximations of CUDA's on purpose, whose error TVM does not state",
    "tirx.vtcm_capacity": "read by VerifyVTCMLimit, a check, for the memory of Hexagon",
    "tirx.disable_assert": "read by code generation alone: rows of oracles.builds.cpu_builds set it",
    "tirx.noalias": "read by VerifyGPUCode of tuning alone",
    "tirx.add_lower_pass": "passes of the user's own",
    "tirx.use_async_copy": "asks tvm.tirx.build for s_tir.InjectPTXAsyncCopy and s_tir.LowerAsyncDMA, which have rows",
    **dict.fromkeys(("tirx.debug_keep_trivial_loop", "tirx.enable_debug", "tirx.is_entry_func"), _UNREAD),
    **dict.fromkeys(("tirx.instrument_bound_checkers", "tirx.instrument_lwp", "tirx.s_tir.ldg32"), _ADDS),
    **dict.fromkeys(("tirx.disable_cse_tir", "tirx.disable_storage_rewrite", "tirx.disable_vectorize"), _LEAVES_OUT),
    **{
        f"s_tir.{name}": _PROFILER
        for name in ("instr_siblings", "lwp_disable_func_prof", "lwp_max_depth", "lwp_min_height", "reset_start_id")
    },
}
"""Options of the PassContext for TIR that no row draws, and why. Where an option is a record, its fields one by one."""

EXCLUDED_RELAX_OPTIONS: dict[str, str] = {
    "relax.transform.apply_legalize_ops": "turned off, LegalizeOps does nothing, and no phase after it is reached",
    "relax.fallback_device_type": "registered in src/relax/ir/transform.cc, and read nowhere in TVM",
    **dict.fromkeys(
        ("relax.ext.clml.options", "relax.ext.tensorrt.options"),
        "of an external code generator that the wheel does not have",
    ),
}
"""Options of the PassContext for Relax that no row draws, and why. Not every TVM registers all of them."""

NOT_PASSES: dict[str, str] = {
    "FunctionPass": "the class of passes over one function",
    "DataflowBlockPass": "the class of passes over one dataflow block",
    "FusionPattern": "an argument of FuseOpsByPattern",
    "PatternCheckContext": "an argument of the check functions of FuseOpsByPattern",
    "tirx.Callable": "a type that the module imports",
    "tirx.PrimFuncPass": "the class of passes over one PrimFunc",
    **{
        f"{namespace}.{name}": "options of a pass"
        for namespace, names in {
            "tirx": (
                *("HoistExpressionConfig", "HoistIfThenElseConfig", "HoistedConditionals", "HoistedLetBindings"),
                *("RemoveNoOpConfig", "StmtSimplifyConfig", "UnrollLoopConfig"),
            ),
            "s_tir": (
                *("HoistedConditionals", "HoistedLetBindings", "InjectDoubleBufferConfig", "LoopPartitionConfig"),
            ),
        }.items()
        for name in names
    },
}
"""Capitalised names of tvm.relax.transform, tvm.tirx.transform and tvm.s_tir.transform that are no passes."""
