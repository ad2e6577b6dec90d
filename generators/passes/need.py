"""How much a pass needs to be drawn: the seldomer it fires in an ordinary campaign, the more.

The weights follow from a table of measured rates and not from what a campaign has seen, so that a case depends on its
seed and its index alone. `python -m benchmarks.bench_fire_rate --mixed 2000 --even` prints the table anew. A pass that
is not in it has fired in at most one case of 2,000, or is new.
"""

from __future__ import annotations

from collections.abc import Sequence

from generators.passes.row import PassRow
from generators.source import Source, weighted

FIRES: dict[str, int] = {
    "AdjustMatmulOrder": 11,
    "AllocateWorkspace": 11,
    "AlterOpImpl": 9,
    "AnnotateTIROpPattern": 63,
    "ApplyDefaultSchedule": 35,
    "AttachAttrLayoutFreeBuffers": 21,
    "AttachExternModules": 16,
    "AttachGlobalSymbol": 86,
    "BindParams": 11,
    "BindSymbolicVars": 13,
    "BundleModelParams": 15,
    "CallTIRRewrite": 84,
    "CanonicalizeBindings": 17,
    "CombineParallelMatmul": 5,
    "ComputePrimValue": 25,
    "ConvertLayout": 6,
    "ConvertToDataflow": 23,
    "DataflowUseInplaceCalls": 3,
    "DeadCodeElimination": 15,
    "DecomposeOpsForInference": 10,
    "DecomposeOpsForTraining": 9,
    "DispatchSampling": 20,
    "DispatchSortScan": 47,
    "EliminateCommonSubexpr": 13,
    "ExpandMatmulOfSum": 13,
    "ExpandTupleArguments": 18,
    "FastMathTransform": 7,
    "FoldBatchnormToConv2D": 14,
    "FoldConstant": 52,
    "FuseOps": 26,
    "FuseOpsByPattern": 9,
    "FuseTIR": 57,
    "FuseTransposeMatmul": 5,
    "Gradient": 9,
    "InlinePrivateFunctions": 11,
    "KillAfterLastUse": 75,
    "LambdaLift": 21,
    "LazyGetInput": 24,
    "LazySetOutput": 21,
    "LazyTransformParams": 16,
    "LegalizeOps": 83,
    "LiftTransformParams": 13,
    "LowerAllocTensor": 79,
    "LowerRuntimeBuiltin": 79,
    "MergeCompositeFunctions": 5,
    "Normalize": 1,
    "OptimizeLayoutTransform": 10,
    "RealizeVDevice": 9,
    "RemovePurityChecking": 79,
    "RemoveRedundantReshape": 11,
    "RemoveUnusedOutputs": 16,
    "RemoveUnusedParameters": 6,
    "ReorderPermuteDimsAfterConcat": 10,
    "ReorderTakeAfterMatmul": 13,
    "RewriteDataflowReshape": 29,
    "RunCodegen": 13,
    "SpecializePrimFuncBasedOnCallSite": 7,
    "SplitLayoutRewritePreproc": 3,
    "StaticPlanBlockMemory": 59,
    "ToMixedPrecision": 4,
    "ToNonDataflow": 83,
    "TopologicalSort": 22,
    "UpdateParamType": 11,
    "UpdateVDevice": 11,
    "VMShapeLower": 75,
    "s_tir.AnnotateIrregularLoop": 1,
    "s_tir.CanonicalizeLoop": 8,
    "s_tir.CompactBufferAllocation": 7,
    "s_tir.ConvertBlocksToOpaque": 28,
    "s_tir.DefaultGPUSchedule": 3,
    "s_tir.HoistExpression": 5,
    "s_tir.HoistIfThenElse": 21,
    "s_tir.InjectVirtualThread": 3,
    "s_tir.LiftThreadBinding": 6,
    "s_tir.LoopPartition": 1,
    "s_tir.LowerCrossThreadReduction": 7,
    "s_tir.LowerInitBlock": 11,
    "s_tir.LowerMatchBuffer": 1,
    "s_tir.LowerOpaqueBlock": 31,
    "s_tir.LowerThreadAllreduce": 5,
    "s_tir.PlanAndUpdateBufferAllocationLocation": 7,
    "s_tir.RenormalizeSplitPattern": 20,
    "s_tir.RewriteUnsafeSelect": 15,
    "s_tir.Schedule": 10,
    "s_tir.StmtSimplify": 33,
    "s_tir.ThreadSync[shared]": 10,
    "s_tir.UnifyThreadBinding": 14,
    "s_tir.dlight.cpu.GEMV": 1,
    "s_tir.dlight.cpu.Reduction": 3,
    "s_tir.dlight.gpu.Fallback": 3,
    "s_tir.dlight.gpu.GEMV": 1,
    "s_tir.dlight.gpu.GeneralReduction": 1,
    "s_tir.dlight.gpu.LowBatchGEMV": 1,
    "s_tir.dlight.gpu.Matmul": 3,
    "s_tir.dlight.gpu.RMSNorm": 2,
    "s_tir.dlight.gpu.Reduction": 3,
    "s_tir.dlight.gpu.Transpose": 1,
    "sym.Analyzer[can_prove]": 1,
    "sym.Analyzer[const_int_bound]": 3,
    "sym.Analyzer[int_set]": 3,
    "sym.Analyzer[modular_set]": 2,
    "sym.Analyzer[simplify]": 4,
    "sym.iter_map_simplify": 1,
    "tirx.BF16ComputeLegalize": 2,
    "tirx.BF16StorageLegalize": 5,
    "tirx.BindTarget": 53,
    "tirx.CommonSubexprElim": 28,
    "tirx.FP8StorageLegalize": 30,
    "tirx.FlattenBuffer": 32,
    "tirx.ForceNarrowIndexToInt32": 3,
    "tirx.LowerIntrin": 27,
    "tirx.LowerTVMBuiltin": 30,
    "tirx.MakePackedAPI": 30,
    "tirx.NarrowDataType": 27,
    "tirx.RemoveAssume": 1,
    "tirx.RemoveNoOp": 1,
    "tirx.SkipAssert": 1,
    "tirx.SplitHostDevice": 15,
    "tirx.StmtSimplify": 23,
    "tirx.StorageRewrite": 22,
    "tirx.UnrollLoop": 14,
    "tirx.VectorizeLoop": 5,
}
"""In how many of 1,000 cases a pass of the table changes a module, where every row is drawn as often as any other."""
MOST = 8
"""Weight of a pass that never fires. The most common ones have weight 1: they stay under test among others."""
COMMON = 16
"""Fires in 1,000 cases from which on a pass has weight 1."""


def need(row: PassRow) -> int:
    """The weight of a row where one is drawn among others."""
    return min(MOST, max(1, round(COMMON / (1 + FIRES.get(row.name, 0)))))


def pick_by_need(source: Source, rows: Sequence[PassRow]) -> PassRow:
    """One of the rows. ValueError where there is none."""
    return weighted(source, [(row, need(row)) for row in rows])
