"""How much a pass needs to be drawn: the seldomer it fires in an ordinary campaign, the more.

The weights follow from a table of measured rates and not from what a campaign has seen, so that a case depends on its
seed and its index alone. `python -m benchmarks.bench_fire_rate --mixed 2000 --even --target llvm cuda` prints the
table anew. A pass that is not in it has fired in at most one case of 2,000, or is new.
"""

from __future__ import annotations

from collections.abc import Sequence

from generators.passes.excluded import QUIET
from generators.passes.row import PassRow
from generators.source import Source, weighted
from generators.targets import TargetRow

FIRES: dict[str, int] = {
    "AdjustMatmulOrder": 12,
    "AllocateWorkspace": 10,
    "AlterOpImpl": 4,
    "AnnotateTIROpPattern": 63,
    "ApplyDefaultSchedule": 31,
    "AttachAttrLayoutFreeBuffers": 14,
    "AttachExternModules": 14,
    "AttachGlobalSymbol": 73,
    "BindParams": 13,
    "BindSymbolicVars": 13,
    "BundleModelParams": 14,
    "CallTIRRewrite": 84,
    "CanonicalizeBindings": 19,
    "CombineParallelMatmul": 6,
    "ComputePrimValue": 20,
    "ConvertLayout": 5,
    "ConvertToDataflow": 20,
    "DataflowUseInplaceCalls": 4,
    "DeadCodeElimination": 12,
    "DecomposeOpsForInference": 10,
    "DecomposeOpsForTraining": 10,
    "DispatchSampling": 24,
    "DispatchSortScan": 44,
    "EliminateCommonSubexpr": 8,
    "ExpandMatmulOfSum": 16,
    "ExpandTupleArguments": 12,
    "FastMathTransform": 6,
    "FoldBatchnormToConv2D": 13,
    "FoldConstant": 50,
    "FuseOps": 27,
    "FuseOpsByPattern": 6,
    "FuseTIR": 54,
    "FuseTransposeMatmul": 6,
    "Gradient": 9,
    "InlinePrivateFunctions": 10,
    "KillAfterLastUse": 66,
    "LambdaLift": 26,
    "LazyGetInput": 16,
    "LazySetOutput": 15,
    "LazyTransformParams": 15,
    "LegalizeOps": 82,
    "LiftTransformParams": 16,
    "LowerAllocTensor": 72,
    "LowerRuntimeBuiltin": 66,
    "MergeCompositeFunctions": 4,
    "MetaScheduleApplyDatabase": 9,
    "Normalize": 6,
    "NormalizeGlobalVar": 15,
    "OptimizeLayoutTransform": 13,
    "RealizeVDevice": 8,
    "RemovePurityChecking": 82,
    "RemoveRedundantReshape": 6,
    "RemoveUnusedOutputs": 21,
    "RemoveUnusedParameters": 8,
    "ReorderPermuteDimsAfterConcat": 12,
    "ReorderTakeAfterMatmul": 11,
    "RewriteCUDAGraph": 8,
    "RewriteDataflowReshape": 20,
    "RunCodegen": 12,
    "SpecializePrimFuncBasedOnCallSite": 6,
    "SplitLayoutRewritePreproc": 6,
    "StaticPlanBlockMemory": 49,
    "ToMixedPrecision": 4,
    "ToNonDataflow": 80,
    "TopologicalSort": 19,
    "UpdateParamType": 7,
    "UpdateVDevice": 8,
    "VMShapeLower": 68,
    "s_tir.CanonicalizeLoop": 6,
    "s_tir.CompactBufferAllocation": 9,
    "s_tir.ConvertBlocksToOpaque": 24,
    "s_tir.DefaultGPUSchedule": 2,
    "s_tir.HoistExpression": 2,
    "s_tir.HoistIfThenElse": 16,
    "s_tir.InjectDoubleBuffer": 2,
    "s_tir.InjectPermutedLayout": 1,
    "s_tir.InjectSoftwarePipeline": 2,
    "s_tir.InjectVirtualThread": 4,
    "s_tir.LiftThreadBinding": 4,
    "s_tir.LoopPartition": 2,
    "s_tir.LowerCrossThreadReduction": 4,
    "s_tir.LowerInitBlock": 12,
    "s_tir.LowerMatchBuffer": 2,
    "s_tir.LowerOpaqueBlock": 28,
    "s_tir.LowerThreadAllreduce": 3,
    "s_tir.ManifestSharedMemoryLocalStage": 1,
    "s_tir.PlanAndUpdateBufferAllocationLocation": 8,
    "s_tir.RemoveStoreUndef": 2,
    "s_tir.RemoveWeightLayoutRewriteBlock": 7,
    "s_tir.RenormalizeSplitPattern": 18,
    "s_tir.RewriteUnsafeSelect": 12,
    "s_tir.Schedule": 98,
    "s_tir.StmtSimplify": 32,
    "s_tir.ThreadSync[shared]": 4,
    "s_tir.UnifyThreadBinding": 8,
    "s_tir.dlight.cpu.GEMV": 1,
    "s_tir.dlight.cpu.Reduction": 3,
    "s_tir.dlight.gpu.Fallback": 2,
    "s_tir.dlight.gpu.GEMV": 2,
    "s_tir.dlight.gpu.LowBatchGEMV": 1,
    "s_tir.dlight.gpu.Matmul": 2,
    "s_tir.dlight.gpu.RMSNorm": 1,
    "s_tir.dlight.gpu.Reduction": 2,
    "s_tir.dlight.gpu.Transpose": 2,
    # MetaSchedule's rows: how often they are drawn evenly, by the share that fired in 240 cases of their own
    "s_tir.meta_schedule.EvolutionarySearch[cuda]": 2,
    "s_tir.meta_schedule.EvolutionarySearch[llvm]": 4,
    "s_tir.meta_schedule.ReplayTrace[cuda]": 5,
    "s_tir.meta_schedule.ReplayTrace[hexagon]": 5,
    "s_tir.meta_schedule.ReplayTrace[llvm]": 7,
    "sym.Analyzer[can_prove]": 1,
    "sym.Analyzer[const_int_bound]": 6,
    "sym.Analyzer[int_set]": 4,
    "sym.Analyzer[modular_set]": 3,
    "sym.Analyzer[simplify]": 6,
    "sym.iter_map_simplify": 4,
    "tirx.BF16ComputeLegalize": 2,
    "tirx.BF16StorageLegalize": 4,
    "tirx.BindTarget": 48,
    "tirx.CommonSubexprElim": 25,
    "tirx.FP8ComputeLegalize": 2,
    "tirx.FP8StorageLegalize": 28,
    "tirx.FlattenBuffer": 30,
    "tirx.InlinePrivateFunctions": 6,
    "tirx.LowerIntrin": 22,
    "tirx.LowerTVMBuiltin": 31,
    "tirx.MakePackedAPI": 29,
    "tirx.NarrowDataType": 22,
    "tirx.RemoveAssume": 2,
    "tirx.SkipAssert": 2,
    "tirx.SplitHostDevice": 9,
    "tirx.StmtSimplify": 16,
    "tirx.StorageRewrite": 19,
    "tirx.UnrollLoop": 9,
    "tirx.VectorizeLoop": 4,
}
"""In how many of 1,000 cases a pass of the table changes a module, where every row is drawn as often as any other."""
MOST = 16
"""Weight of a pass that never fires. The most common ones have weight 1: they stay under test among others."""
COMMON = 16
"""Fires in 1,000 cases from which on a pass has weight 1."""


def need(row: PassRow, target: TargetRow | None = None) -> int:
    """The weight of a row where one is drawn among others: the least where the pass changes nothing by design, and
    for a target for which none of the shapes can be planted that the pass fires on."""
    from generators.tir.recipes.table import fitting  # here, since it loads TVM: the table of passes is read without

    shapes = row.fires.prim_recipes
    if row.name in QUIET or (target is not None and shapes and not fitting(shapes, target)):
        return 1
    return min(MOST, max(1, round(COMMON / (1 + FIRES.get(row.name, 0)))))


def pick_by_need(source: Source, rows: Sequence[PassRow], target: TargetRow | None = None) -> PassRow:
    """One of the rows. ValueError where there is none."""
    return weighted(source, [(row, need(row, target)) for row in rows])
