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
    )
}

NOT_PASSES: dict[str, str] = {
    "FunctionPass": "the class of passes over one function",
    "DataflowBlockPass": "the class of passes over one dataflow block",
    "FusionPattern": "an argument of FuseOpsByPattern",
    "PatternCheckContext": "an argument of the check functions of FuseOpsByPattern",
}
"""Capitalised names of tvm.relax.transform that are no passes."""
