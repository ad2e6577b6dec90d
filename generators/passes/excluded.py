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
            "MetaScheduleApplyDatabase",
            "its real input is a database of tuning records, not the module; without one it refuses or does nothing",
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

QUIET: dict[str, str] = {
    "LowerGPUIPCAllocStorage": "looks for the scope ipc_memory, which IPCAllReduceRewrite alone asks for; its result "
    "calls a function that only builds with CUDA and NCCL have",
    "s_tir.VerifyVTCMLimit": "a check: it gives back the module that it gets, or refuses it",
    "tirx.VerifyMemory": "a check: it gives back the module that it gets, or refuses it",
}
"""Passes that have a row, and of which no program here shows a change by the structural hash, and why."""

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
