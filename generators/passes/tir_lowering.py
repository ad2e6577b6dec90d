"""The passes that `tvm.tirx.build` takes PrimFuncs through for LLVM, in their order (python/tvm/s_tir/pipeline.py).
They stand behind the Relax pipeline: the module still holds the Relax functions that call the PrimFuncs, which no TIR
pass touches, so that a case is called and compared as before. Names carry the namespace, as in TVM's own traces.
"""

from __future__ import annotations

from generators.passes.analyzer import INTEGER_REWRITES
from generators.passes.options import OPTIONS
from generators.passes.phases import span
from generators.passes.row import Meaning, PassRow, Phase

_SAME_AGAIN = frozenset(
    {
        *("tirx.BindTarget", "s_tir.LowerInitBlock", "s_tir.ConvertBlocksToOpaque", "s_tir.LowerMatchBuffer"),
        *("s_tir.LowerOpaqueBlock", "tirx.FlattenBuffer", "tirx.BF16ComputeLegalize", "tirx.VectorizeLoop"),
        *("tirx.SplitHostDevice", "tirx.MakePackedAPI", "tirx.BF16StorageLegalize", "tirx.LowerTVMBuiltin"),
    }
)
"""Lowerings that leave nothing of what they lower, so that a second application finds nothing."""
_NEW_FORM = frozenset({"tirx.BindTarget", "tirx.AnnotateEntryFunc", "tirx.SplitHostDevice", "tirx.MakePackedAPI"})
"""Passes that write attributes of functions anew: target, entry function, calling convention, name."""
_KEEPS_ONLY = {"tirx.BF16ComputeLegalize": "bfloat16"}
"""What is cast to bfloat16 stays in float32 until it is stored in an argument: more precise, and another number."""
_RELIES_ON = {
    "tirx.BF16StorageLegalize": "tirx.BF16ComputeLegalize",
    "tirx.FP8StorageLegalize": "tirx.FP8ComputeLegalize",
}
"""What is left of arithmetic in these types would be that of unsigned integers."""
SYNCHRONISES = "s_tir.ThreadSync"
"""The pass that puts barriers in, with a row for each kind of memory."""
_ILL_FORMED = frozenset({"s_tir.LowerCrossThreadReduction"})
"""Loop variables of threads stand in blocks that are not opaque yet; TVM's tests of it have check_well_formed=False."""
_ROUNDS = {"tirx.LowerIntrin": "intrinsics become formulas and library calls"}


def _row(
    name: str,
    why: str,
    first: Phase,
    last: Phase,
    gives: Phase | None = None,
    argument: str = "",
    fires: bool = True,
    sources: tuple[str, ...] = (),
    prepared_by: tuple[str, ...] = (),
) -> PassRow:
    namespace, plain = name.split(".", 1)
    return PassRow(
        name,
        (f"{namespace}.transform.{plain.split('[')[0]}({argument})", *sources),
        span(first, last),
        why,
        gives=gives,
        meaning=Meaning.APPROXIMATE if name in _KEEPS_ONLY else Meaning.ROUNDED if name in _ROUNDS else Meaning.SAME,
        lowers_to=_KEEPS_ONLY.get(name),
        idempotent=name in _SAME_AGAIN,
        well_formed=name not in _ILL_FORMED,
        needs_target=name == "tirx.BindTarget",
        wants=("integers",) if name in INTEGER_REWRITES else (),
        relies_on=_RELIES_ON.get(name),
        keeps_attributes=name not in _NEW_FORM,
        options=OPTIONS.get(name, ()),
        prepared_by=prepared_by,
        in_repertoire=fires,
        notes=_ROUNDS.get(name, ""),
    )


ROWS: tuple[PassRow, ...] = (
    _row(
        "tirx.BindTarget",
        "src/tirx/transform/primfunc_utils.cc: gives every function the attribute target",
        Phase.SYMBOLED,
        Phase.SYMBOLED,
        Phase.BOUND,
        "tvm.target.Target.current().with_host(tvm.target.Target.current().host or tvm.target.Target.current())",
    ),
    _row(
        "s_tir.CanonicalizeLoop",
        "src/s_tir/transform/canonicalize_loop.cc: loops start at 0 and step by 1",
        Phase.BOUND,
        Phase.STORAGE,
    ),
    _row(
        "s_tir.LowerCrossThreadReduction",
        "src/s_tir/transform/lower_cross_thread_reduction.cc: reductions over threads of a GPU",
        Phase.BOUND,
        Phase.BOUND,
        fires=False,
    ),
    _row(
        "s_tir.LowerInitBlock",
        "src/s_tir/transform/lower_init_block.cc: init becomes a condition on the reduction axes",
        Phase.BOUND,
        Phase.BOUND,
        Phase.INIT,
    ),
    _row(
        "s_tir.PlanAndUpdateBufferAllocationLocation",
        "src/s_tir/transform/plan_update_buffer_allocation_location.cc: allocations move to where they are used",
        Phase.INIT,
        Phase.INIT,
        Phase.PLACED,
    ),
    _row(
        "s_tir.ConvertBlocksToOpaque",
        "src/s_tir/transform/convert_blocks_to_opaque.cc: block axes become their bindings",
        Phase.PLACED,
        Phase.PLACED,
        Phase.OPAQUE,
    ),
    _row(
        "s_tir.LiftThreadBinding",
        "src/s_tir/transform/lift_thread_binding.cc: thread loops of GPUs",
        Phase.OPAQUE,
        Phase.OPAQUE,
        fires=False,
    ),
    _row(
        "s_tir.ManifestSharedMemoryLocalStage",
        "src/s_tir/transform/manifest_shared_memory_local_stage.cc: annotated blocks of GPUs",
        Phase.OPAQUE,
        Phase.OPAQUE,
        fires=False,
    ),
    _row(
        "s_tir.CompactBufferAllocation",
        "src/s_tir/transform/compact_buffer_region.cc: buffers shrink to the region that is used",
        Phase.OPAQUE,
        Phase.OPAQUE,
        Phase.COMPACT,
    ),
    _row(
        "s_tir.LowerAutoCopy",
        "src/s_tir/transform/memhammer_lower_auto_copy.cc: annotated copies of GPUs",
        Phase.COMPACT,
        Phase.COMPACT,
        fires=False,
    ),
    _row(
        "s_tir.UnifyThreadBinding",
        "src/s_tir/transform/unify_thread_binding.cc: thread loops of GPUs",
        Phase.COMPACT,
        Phase.COMPACT,
        fires=False,
    ),
    _row(
        "s_tir.LowerMatchBuffer",
        "src/s_tir/transform/lower_match_buffer.cc: matched buffers become their source",
        Phase.COMPACT,
        Phase.COMPACT,
    ),
    _row(
        "s_tir.StmtSimplify",
        "src/s_tir/transform/stmt_simplify.cc: rewrites of sym.Analyzer, conditions that are known",
        Phase.BOUND,
        Phase.STORAGE,
    ),
    _row(
        "s_tir.InjectPermutedLayout",
        "src/s_tir/transform/inject_permuted_layout.cc: annotated shared memory of GPUs",
        Phase.COMPACT,
        Phase.COMPACT,
        fires=False,
    ),
    _row(
        "s_tir.AnnotateIrregularLoop",
        "src/s_tir/transform/annotate_irregular_loop.cc: marks loops with break and continue",
        Phase.COMPACT,
        Phase.COMPACT,
    ),
    _row(
        "s_tir.InjectSoftwarePipeline",
        "src/s_tir/transform/inject_software_pipeline.cc: annotated loops",
        Phase.COMPACT,
        Phase.COMPACT,
        fires=False,
    ),
    _row(
        "s_tir.TransformMmaBufferLayout",
        "src/s_tir/transform/transform_mma_buffer_layout.cc: fragments of tensor cores",
        Phase.COMPACT,
        Phase.COMPACT,
        fires=False,
    ),
    _row(
        "s_tir.LowerOpaqueBlock",
        "src/s_tir/transform/lower_opaque_block.cc: blocks become their bodies, their buffers allocations",
        Phase.COMPACT,
        Phase.COMPACT,
        Phase.LOOPS,
        prepared_by=("s_tir.LowerMatchBuffer",),
    ),
    _row(
        "tirx.FlattenBuffer",
        "src/tirx/transform/flatten_buffer.cc: buffers become one-dimensional, bool is stored as int8",
        Phase.LOOPS,
        Phase.LOOPS,
        Phase.FLAT,
    ),
    _row(
        "tirx.BF16ComputeLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: bfloat16 arithmetic in float32",
        Phase.FLAT,
        Phase.FLAT,
    ),
    _row(
        "tirx.NarrowDataType",
        "src/tirx/transform/narrow_datatype.cc: index arithmetic in int32 where it fits",
        Phase.FLAT,
        Phase.FLAT,
        argument="32",
    ),
    _row(
        "s_tir.LoopPartition",
        "src/s_tir/transform/loop_partition.cc: loops split where a likely condition changes",
        Phase.FLAT,
        Phase.FLAT,
    ),
    _row(
        "tirx.VectorizeLoop",
        "src/tirx/transform/vectorize_loop.cc: vectorised loops become vectors",
        Phase.FLAT,
        Phase.FLAT,
        Phase.VECTORS,
        argument="True",
        sources=("tirx.transform.VectorizeLoop(False)",),
    ),
    _row(
        "s_tir.InjectVirtualThread",
        "src/s_tir/transform/inject_virtual_thread.cc: virtual threads become loops",
        Phase.VECTORS,
        Phase.VECTORS,
        fires=False,
    ),
    _row(
        "s_tir.InjectDoubleBuffer",
        "src/s_tir/transform/inject_double_buffer.cc: marked buffers are doubled",
        Phase.VECTORS,
        Phase.VECTORS,
        fires=False,
    ),
    _row(
        "tirx.StorageRewrite",
        "src/tirx/transform/storage_rewrite.cc: allocations share memory that is free again",
        Phase.VECTORS,
        Phase.VECTORS,
        Phase.STORAGE,
    ),
    _row(
        "s_tir.HoistIfThenElse",
        "src/s_tir/transform/hoist_expression.cc: conditions move out of loops that they do not depend on",
        Phase.STORAGE,
        Phase.STORAGE,
        sources=("s_tir.transform.HoistIfThenElse('basic')",),
    ),
    _row("tirx.UnrollLoop", "src/tirx/transform/unroll_loop.cc: loops marked unrolled", Phase.FLAT, Phase.STORAGE),
    _row(
        "s_tir.RenormalizeSplitPattern",
        "src/s_tir/transform/renormalize_split_pattern.cc: patterns of floordiv and floormod",
        Phase.FLAT,
        Phase.STORAGE,
    ),
    _row(
        "tirx.StmtSimplify",
        "src/tirx/transform/stmt_simplify.cc: rewrites of sym.Analyzer, conditions that are known",
        Phase.FLAT,
        Phase.STORAGE,
    ),
    _row("tirx.RemoveNoOp", "src/tirx/transform/remove_no_op.cc: statements without effect", Phase.FLAT, Phase.STORAGE),
    _row(
        "s_tir.RewriteUnsafeSelect",
        "src/s_tir/transform/rewrite_unsafe_select.cc: Select with loads becomes if_then_else",
        Phase.FLAT,
        Phase.STORAGE,
    ),
    _row(
        "tirx.CommonSubexprElim",
        "src/tirx/transform/common_subexpr_elim.cc: equal expressions are computed once",
        Phase.FLAT,
        Phase.STORAGE,
    ),
    _row(
        "tirx.FP8ComputeLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: float8 arithmetic, which no program here has",
        Phase.STORAGE,
        Phase.STORAGE,
        fires=False,
    ),
    _row(
        "s_tir.VerifyVTCMLimit",
        "src/s_tir/transform/verify_vtcm_limit.cc: checks memory of Hexagon",
        Phase.STORAGE,
        Phase.STORAGE,
        fires=False,
    ),
    _row(
        "s_tir.LowerVtcmAlloc",
        "src/s_tir/transform/lower_vtcm_alloc.cc: memory of Hexagon",
        Phase.STORAGE,
        Phase.STORAGE,
        fires=False,
    ),
    _row(
        "tirx.VerifyMemory",
        "src/tirx/analysis/verify_memory.cc: refuses host code that touches memory of a device",
        Phase.FLAT,
        Phase.STORAGE,
        fires=False,
    ),
    _row(
        "tirx.AnnotateEntryFunc",
        "src/tirx/transform/primfunc_utils.cc: marks the only function as the entry",
        Phase.BOUND,
        Phase.STORAGE,
    ),
    *(
        _row(
            f"{SYNCHRONISES}[{scope}]",
            "src/s_tir/transform/thread_storage_sync.cc: barriers of GPUs",
            Phase.STORAGE,
            Phase.STORAGE,
            Phase.SYNCED if scope == "warp" else None,
            f"'{scope}'",
            fires=False,
        )
        for scope in ("shared", "shared.dyn", "warp")
    ),
    _row(
        "s_tir.InferFragment",
        "src/s_tir/transform/infer_fragment.cc: fragments of tensor cores",
        Phase.SYNCED,
        Phase.SYNCED,
        fires=False,
    ),
    _row(
        "s_tir.LowerThreadAllreduce",
        "src/s_tir/transform/lower_thread_allreduce.cc: reductions over threads of GPUs",
        Phase.SYNCED,
        Phase.SYNCED,
        fires=False,
    ),
    _row(
        "s_tir.MergeSharedMemoryAllocations",
        "src/s_tir/transform/merge_shared_memory_allocations.cc: shared memory of GPUs",
        Phase.SYNCED,
        Phase.SYNCED,
        fires=False,
    ),
    _row(
        "tirx.SplitHostDevice",
        "src/tirx/transform/split_host_device.cc: kernels become functions of their own",
        Phase.SYNCED,
        Phase.SYNCED,
        Phase.SPLIT,
    ),
    _row(
        "tirx.MakePackedAPI",
        "src/tirx/transform/make_packed_api.cc: parameters come as TVMFFIAny, with checks",
        Phase.SPLIT,
        Phase.SPLIT,
        Phase.PACKED,
    ),
    _row(
        "tirx.FP8StorageLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: float8 is stored as uint8, which no program here has",
        Phase.PACKED,
        Phase.PACKED,
        fires=False,
    ),
    _row(
        "tirx.BF16StorageLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: bfloat16 is stored as uint16",
        Phase.PACKED,
        Phase.PACKED,
        Phase.STORED,
    ),
    _row(
        "tirx.LowerTVMBuiltin",
        "src/tirx/transform/lower_tvm_builtin.cc: large allocations become workspaces, packed calls use a stack",
        Phase.STORED,
        Phase.STORED,
        Phase.BUILTINS,
    ),
    _row(
        "tirx.LowerIntrin",
        "src/tirx/transform/lower_intrin.cc: intrinsics of the target, floordiv by truncation",
        Phase.BUILTINS,
        Phase.BUILTINS,
        Phase.INTRINSICS,
    ),
)

TIR_PIPELINE: tuple[str, ...] = tuple(row.name for row in ROWS)
"""`tvm.tirx.build` for LLVM: the rows stand in its order. tirx.StmtSimplify and its like stand in it once each."""
