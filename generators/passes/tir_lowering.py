"""The passes that `tvm.tirx.build` takes PrimFuncs through for LLVM, in their order (python/tvm/s_tir/pipeline.py).

They stand after the Relax pipeline: the module still holds the Relax functions that call the PrimFuncs, which no TIR
pass touches, so that a case is called and compared as before. Names carry the namespace, as in TVM's own traces.
"""

from __future__ import annotations

from generators.passes import tir_marks as marks
from generators.passes.options import HOIST_CONDITIONS, MERGE_STATIC, PARTITION, SIMPLIFY, UNROLL, VECTORIZE
from generators.passes.phases import at, span
from generators.passes.row import LIBRARY, Documented, Fires, Foreign, Meaning, PassRow, Phase, Place, Promise, Role

SYNCHRONISES = "s_tir.ThreadSync"
"""The pass that puts barriers in, with a row for each kind of memory."""
ONCE = Promise(idempotent=False)
"""What a pass of TIR promises unless its row says more."""
AGAIN = Promise()
"""For lowerings that leave nothing of what they lower, so that a second application finds nothing."""
IN_PLACE_ONLY = Foreign(in_place_only=True)
_WITH_TARGET = ("tirx.BindTarget",)
_PACKED = Documented("This pass must be called after MakePackedAPI", LIBRARY, after=("tirx.MakePackedAPI",))
_CURRENT = "tvm.target.Target.current()"
_WITH_HOST = f"{_CURRENT}.with_host({_CURRENT}.host or {_CURRENT})"


def _row(
    name: str,
    why: str,
    place: Place,
    promise: Promise = ONCE,
    *,
    fires: Fires = Fires(),  # noqa: B008 - a frozen record
    foreign: Foreign = Foreign(),  # noqa: B008 - a frozen record
    role: Role | None = None,
    argument: str = "",
    sources: tuple[str, ...] = (),
) -> PassRow:
    """A row whose constructor follows from its name: `namespace.transform.Name(argument)`, then other `sources`."""
    namespace, plain = name.split(".", 1)
    constructor = f"{namespace}.transform.{plain.split('[')[0]}({argument})"
    return PassRow(name, (constructor, *sources), why, place, promise, fires, foreign, role)


ROWS: tuple[PassRow, ...] = (
    _row(
        "tirx.BindTarget",
        "src/tirx/transform/primfunc_utils.cc: gives every function the attribute target",
        Place(at(Phase.SYMBOLED), gives=Phase.BOUND, needs_target=True, makes_loops=True),
        Promise(keeps_attributes=False),
        argument=_WITH_HOST,
    ),
    _row(
        "s_tir.CanonicalizeLoop",
        "src/s_tir/transform/canonicalize_loop.cc: loops start at 0 and step by 1",
        Place(span(Phase.BOUND, Phase.STORAGE)),
        # the pipeline has it first of all, and no pass after it moves the start of a loop
        fires=Fires(prim_recipes=("moved_loops",), phases=at(Phase.BOUND)),
    ),
    _row(
        "s_tir.LowerCrossThreadReduction",
        "src/s_tir/transform/lower_cross_thread_reduction.cc: reductions over threads of a GPU",
        Place(at(Phase.BOUND), makes_loops=True),
        # thread variables stand in blocks that are not opaque yet; TVM's tests have check_well_formed=False
        Promise(idempotent=False, well_formed=False),
        fires=marks.on_threads("thread_reduction"),
    ),
    _row(
        "s_tir.LowerInitBlock",
        "src/s_tir/transform/lower_init_block.cc: init becomes a condition on the reduction axes",
        Place(at(Phase.BOUND), gives=Phase.INIT, makes_loops=True),
        AGAIN,
    ),
    _row(
        "s_tir.PlanAndUpdateBufferAllocationLocation",
        "src/s_tir/transform/plan_update_buffer_allocation_location.cc: allocations move to where they are used",
        Place(at(Phase.INIT), gives=Phase.PLACED, makes_loops=True),
        fires=Fires(prim_recipes=("buffers_of_a_loop",)),
    ),
    _row(
        "s_tir.ConvertBlocksToOpaque",
        "src/s_tir/transform/convert_blocks_to_opaque.cc: block axes become their bindings",
        Place(at(Phase.PLACED), gives=Phase.OPAQUE, makes_loops=True),
        AGAIN,
    ),
    _row(
        "s_tir.LiftThreadBinding",
        "src/s_tir/transform/lift_thread_binding.cc: thread loops of GPUs",
        Place(at(Phase.OPAQUE), makes_loops=True),
        fires=marks.ON_THREADS,
    ),
    _row(
        "s_tir.ManifestSharedMemoryLocalStage",
        "src/s_tir/transform/manifest_shared_memory_local_stage.cc: annotated blocks of GPUs",
        Place(at(Phase.OPAQUE)),
        fires=marks.LOCAL_STAGES,
    ),
    _row(
        "s_tir.CompactBufferAllocation",
        "src/s_tir/transform/compact_buffer_region.cc: buffers shrink to the region that is used",
        Place(at(Phase.OPAQUE), gives=Phase.COMPACT),
    ),
    _row(
        "s_tir.LowerAutoCopy",
        "src/s_tir/transform/memhammer_lower_auto_copy.cc: annotated copies of GPUs",
        Place(at(Phase.COMPACT)),
        fires=marks.on_threads("auto_copy", "auto_copy", "fragment_copies", "mma_copies"),
    ),
    _row(
        "s_tir.UnifyThreadBinding",
        "src/s_tir/transform/unify_thread_binding.cc: thread loops of GPUs",
        Place(at(Phase.COMPACT), makes_loops=True),
        fires=marks.ON_THREADS,
    ),
    _row(
        "s_tir.LowerMatchBuffer",
        "src/s_tir/transform/lower_match_buffer.cc: matched buffers become their source",
        Place(at(Phase.COMPACT), makes_loops=True),
        AGAIN,
        fires=Fires(prim_recipes=("matched_regions",)),
    ),
    _row(
        "s_tir.StmtSimplify",
        "src/s_tir/transform/stmt_simplify.cc: rewrites of sym.Analyzer, conditions that are known",
        Place(span(Phase.BOUND, Phase.STORAGE)),
        fires=Fires(wants=marks.ON_INTEGERS.wants, options=SIMPLIFY),
    ),
    _row(
        "s_tir.InjectPermutedLayout",
        "src/s_tir/transform/inject_permuted_layout.cc: annotated shared memory of GPUs",
        Place(at(Phase.COMPACT)),
        fires=marks.on_threads("permuted_layout"),
    ),
    _row(
        "s_tir.AnnotateIrregularLoop",
        "src/s_tir/transform/annotate_irregular_loop.cc: marks loops with break and continue",
        Place(at(Phase.COMPACT), makes_loops=True),
        fires=Fires(prim_recipes=("jumping_loops",)),
    ),
    _row(
        "s_tir.InjectSoftwarePipeline",
        "src/s_tir/transform/inject_software_pipeline.cc: annotated loops",
        Place(at(Phase.COMPACT)),
        fires=marks.PIPELINES,
    ),
    _row(
        "s_tir.TransformMmaBufferLayout",
        "src/s_tir/transform/transform_mma_buffer_layout.cc: fragments of tensor cores",
        Place(at(Phase.COMPACT)),
        # the map of the accumulators is a function that tvm.s_tir.tensor_intrin.cuda registers: its import takes 40 s
        Promise(idempotent=False, refuses=r"index_map_func\.has_value\(\)"),
        fires=marks.on_threads("mma_registers"),
    ),
    _row(
        "s_tir.LowerOpaqueBlock",
        "src/s_tir/transform/lower_opaque_block.cc: blocks become their bodies, their buffers allocations",
        Place(at(Phase.COMPACT), gives=Phase.LOOPS, prepared_by=("s_tir.LowerMatchBuffer",), makes_loops=True),
        AGAIN,
    ),
    _row(
        "tirx.FlattenBuffer",
        "src/tirx/transform/flatten_buffer.cc: buffers become one-dimensional, bool is stored as int8",
        Place(at(Phase.LOOPS), gives=Phase.FLAT),
        AGAIN,
    ),
    _row(
        "tirx.BF16ComputeLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: bfloat16 arithmetic in float32",
        Place(at(Phase.FLAT)),
        # what is cast to bfloat16 stays float32 until it is stored in an argument: more precise, and another number
        Promise(meaning=Meaning.APPROXIMATE, lowers_to="bfloat16"),
        fires=Fires(prim_recipes=("bfloat16", "bfloat16_loops", "bfloat16_thread_reduction")),
    ),
    _row(
        "tirx.NarrowDataType",
        "src/tirx/transform/narrow_datatype.cc: index arithmetic in int32 where it fits",
        Place(at(Phase.FLAT)),
        fires=marks.ON_INTEGERS,
        argument="32",
    ),
    _row(
        "s_tir.LoopPartition",
        "src/s_tir/transform/loop_partition.cc: loops split where a likely condition changes",
        Place(at(Phase.FLAT)),
        fires=Fires(options=PARTITION, prim_recipes=("loops_with_borders", "loops_with_tails")),
    ),
    _row(
        "tirx.VectorizeLoop",
        "src/tirx/transform/vectorize_loop.cc: vectorised loops become vectors",
        Place(at(Phase.FLAT), gives=Phase.VECTORS, of_any_loops=True),
        Promise(follows_annotations=True),
        fires=Fires(options=VECTORIZE, prim_recipes=marks.VECTOR_LOOPS),
        argument="True",
        sources=("tirx.transform.VectorizeLoop(False)",),
    ),
    _row(
        "s_tir.InjectVirtualThread",
        "src/s_tir/transform/inject_virtual_thread.cc: virtual threads become loops",
        Place(at(Phase.VECTORS)),
        fires=marks.VIRTUAL_THREADS,
    ),
    _row(
        "s_tir.InjectDoubleBuffer",
        "src/s_tir/transform/inject_double_buffer.cc: marked buffers are doubled",
        # these replace the buffer, and not in the mark
        Place(at(Phase.VECTORS), setup_without=("s_tir.CompactBufferAllocation", "tirx.NarrowDataType")),
        fires=marks.DOUBLE_BUFFERS,
    ),
    _row(
        "tirx.StorageRewrite",
        "src/tirx/transform/storage_rewrite.cc: allocations share memory that is free again",
        Place(at(Phase.VECTORS), gives=Phase.STORAGE, left_out_by="tirx.disable_storage_rewrite"),
        fires=Fires(options=MERGE_STATIC, prim_recipes=("buffers_of_vectors", "short_lives")),
    ),
    _row(
        "s_tir.HoistIfThenElse",
        "src/s_tir/transform/hoist_expression.cc: conditions move out of loops that they do not depend on",
        Place(at(Phase.STORAGE)),
        fires=Fires(options=HOIST_CONDITIONS),
        sources=("s_tir.transform.HoistIfThenElse('basic')",),
    ),
    _row(
        "tirx.UnrollLoop",
        "src/tirx/transform/unroll_loop.cc: loops marked unrolled",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(options=UNROLL),
    ),
    _row(
        "s_tir.RenormalizeSplitPattern",
        "src/s_tir/transform/renormalize_split_pattern.cc: patterns of floordiv and floormod",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=marks.ON_INTEGERS,
    ),
    _row(
        "tirx.StmtSimplify",
        "src/tirx/transform/stmt_simplify.cc: rewrites of sym.Analyzer, conditions that are known",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(wants=marks.ON_INTEGERS.wants, options=SIMPLIFY),
    ),
    _row(
        "tirx.RemoveNoOp",
        "src/tirx/transform/remove_no_op.cc: statements without effect",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(prim_recipes=("no_ops",), no_build_sets="a limit of steps for debugging, and the profiler's calls"),
    ),
    _row(
        "s_tir.RewriteUnsafeSelect",
        "src/s_tir/transform/rewrite_unsafe_select.cc: Select with loads becomes if_then_else",
        Place(span(Phase.FLAT, Phase.STORAGE)),
    ),
    _row(
        "tirx.CommonSubexprElim",
        "src/tirx/transform/common_subexpr_elim.cc: equal expressions are computed once",
        Place(span(Phase.FLAT, Phase.STORAGE), left_out_by="tirx.disable_cse_tir"),
        fires=marks.ON_INTEGERS,
    ),
    _row(
        "tirx.FP8ComputeLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: float8 arithmetic in float32 or float16",
        Place(at(Phase.STORAGE)),
        # as with bfloat16 above
        Promise(meaning=Meaning.APPROXIMATE, lowers_to="float8_e5m2"),
        fires=Fires(prim_recipes=marks.FLOAT8),
        sources=("tirx.transform.FP8ComputeLegalize('float16')",),
    ),
    _row(
        "s_tir.VerifyVTCMLimit",
        "src/s_tir/transform/verify_vtcm_limit.cc: checks memory of Hexagon",
        Place(at(Phase.STORAGE)),
        fires=marks.ON_THREADS,
    ),
    _row(
        "s_tir.LowerVtcmAlloc",
        "src/s_tir/transform/lower_vtcm_alloc.cc: memory of Hexagon",
        Place(at(Phase.STORAGE)),
        fires=Fires(prim_recipes=("vtcm_buffers",)),
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "tirx.VerifyMemory",
        "src/tirx/analysis/verify_memory.cc: refuses host code that touches memory of a device",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=marks.ON_THREADS,
    ),
    _row(
        "tirx.AnnotateEntryFunc",
        "src/tirx/transform/primfunc_utils.cc: marks the only function as the entry",
        Place(span(Phase.BOUND, Phase.STORAGE)),
        Promise(idempotent=False, keeps_attributes=False),
    ),
    *(
        _row(
            f"{SYNCHRONISES}[{scope}]",
            "src/s_tir/transform/thread_storage_sync.cc: barriers of GPUs",
            Place(
                at(Phase.STORAGE),
                gives=Phase.SYNCED if scope == "warp" else None,
                # barriers count as explicit from here on, in memory of any scope
                prepared_by=(f"{SYNCHRONISES}[shared]", f"{SYNCHRONISES}[shared.dyn]") if scope == "warp" else (),
            ),
            fires=marks.BARRIERS[scope],
            foreign=Foreign(name=SYNCHRONISES),
            role=Role.SYNCHRONISES,
            argument=f"'{scope}'",
        )
        for scope in ("shared", "shared.dyn", "warp")
    ),
    _row(
        "s_tir.InferFragment",
        "src/s_tir/transform/infer_fragment.cc: fragments of tensor cores",
        Place(at(Phase.SYNCED)),
        fires=marks.on_threads("fragments"),
    ),
    _row(
        "s_tir.LowerThreadAllreduce",
        "src/s_tir/transform/lower_thread_allreduce.cc: reductions over threads of GPUs",
        Place(
            at(Phase.SYNCED),
            documented=(Documented("LowerThreadAllreduce: Require the target attribute", LIBRARY, after=_WITH_TARGET),),
        ),
        fires=marks.REDUCTIONS,
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "s_tir.MergeSharedMemoryAllocations",
        "src/s_tir/transform/merge_shared_memory_allocations.cc: shared memory of GPUs",
        Place(
            at(Phase.SYNCED),
            documented=(
                Documented(
                    "MergeSharedMemoryAllocations expects flat memory buffers, and is to be run after FlattenBuffer",
                    LIBRARY,
                    after=("tirx.FlattenBuffer",),
                ),
            ),
        ),
        fires=marks.MERGED_TILES,
    ),
    _row(
        "tirx.SplitHostDevice",
        "src/tirx/transform/split_host_device.cc: kernels become functions of their own",
        Place(
            at(Phase.SYNCED),
            gives=Phase.SPLIT,
            documented=(Documented("SplitHostDevice: Require the target attribute", LIBRARY, after=_WITH_TARGET),),
        ),
        Promise(keeps_attributes=False),
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "tirx.MakePackedAPI",
        "src/tirx/transform/make_packed_api.cc: parameters come as TVMFFIAny, with checks",
        Place(at(Phase.SPLIT), gives=Phase.PACKED),
        Promise(keeps_attributes=False),
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "tirx.FP8StorageLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: float8 is stored as uint8",
        # arithmetic in float8 that is left would become that of unsigned integers; so with bfloat16 below
        Place(at(Phase.PACKED), relies_on="tirx.FP8ComputeLegalize", documented=(_PACKED,)),
        fires=Fires(prim_recipes=marks.FLOAT8),
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "tirx.BF16StorageLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: bfloat16 is stored as uint16",
        Place(at(Phase.PACKED), gives=Phase.STORED, relies_on="tirx.BF16ComputeLegalize", documented=(_PACKED,)),
        AGAIN,
        fires=Fires(prim_recipes=("bfloat16", "bfloat16_loops")),
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "tirx.LowerTVMBuiltin",
        "src/tirx/transform/lower_tvm_builtin.cc: large allocations become workspaces, packed calls use a stack",
        Place(at(Phase.STORED), gives=Phase.BUILTINS),
        AGAIN,
        foreign=IN_PLACE_ONLY,
    ),
    _row(
        "tirx.LowerIntrin",
        "src/tirx/transform/lower_intrin.cc: intrinsics of the target, floordiv by truncation",
        Place(
            at(Phase.BUILTINS),
            gives=Phase.INTRINSICS,
            documented=(Documented("LowerIntrin: Require the target attribute", LIBRARY, after=_WITH_TARGET),),
        ),
        Promise(meaning=Meaning.ROUNDED, idempotent=False),  # intrinsics become formulas and library calls
        fires=Fires(prim_recipes=("addressed_places",)),
        foreign=IN_PLACE_ONLY,
    ),
)
"""In the order of the pipeline (`generators.passes.table.TIR_PIPELINE`): a row that is added takes its place in it."""
