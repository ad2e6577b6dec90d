"""The passes that `tvm.tirx.build` takes PrimFuncs through for LLVM, in their order (python/tvm/s_tir/pipeline.py),
from loops on. Those on sblocks come first, and are in `tir_blocks.py`.

They stand after the Relax pipeline: the module still holds the Relax functions that call the PrimFuncs, which no TIR
pass touches, so that a case is called and compared as before. Names carry the namespace, as in TVM's own traces.
"""

from __future__ import annotations

from generators.passes import tir_blocks
from generators.passes import tir_marks as marks
from generators.passes.options import HOIST_CONDITIONS, MERGE_STATIC, PARTITION, SIMPLIFY, UNROLL, VECTORIZE
from generators.passes.phases import at, span
from generators.passes.row import (
    LIBRARY,
    Documented,
    Fires,
    Meaning,
    PassRow,
    Phase,
    Place,
    Promise,
    Rate,
    Role,
)
from generators.passes.tir_row import AGAIN, tir_row
from generators.passes.traits import (
    FollowsAnnotations,
    InPlaceOnly,
    LeftOutBy,
    NoBuildSets,
    ObjectNamed,
    PreparedBy,
    Quiet,
    ReliesOn,
    SetUpWithout,
    Synchronises,
    TakesAnyLoops,
)

SYNCHRONISES = "s_tir.ThreadSync"
"""The pass that puts barriers in, with a row for each kind of memory."""
_WITH_TARGET = ("tirx.BindTarget",)
_PACKED = Documented("This pass must be called after MakePackedAPI", LIBRARY, after=("tirx.MakePackedAPI",))

ROWS: tuple[PassRow, ...] = (
    *tir_blocks.ROWS,
    tir_row(
        "tirx.FlattenBuffer",
        "src/tirx/transform/flatten_buffer.cc: buffers become one-dimensional, bool is stored as int8",
        Place(at(Phase.LOOPS), gives=Phase.FLAT),
        AGAIN,
        fires=Fires(rate=Rate(30)),
    ),
    tir_row(
        "tirx.BF16ComputeLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: bfloat16 arithmetic in float32",
        Place(at(Phase.FLAT)),
        # what is cast to bfloat16 stays float32 until it is stored in an argument: more precise, and another number
        Promise(meaning=Meaning.APPROXIMATE, lowers_to="bfloat16"),
        fires=Fires(prim_recipes=("bfloat16", "bfloat16_loops", "bfloat16_thread_reduction"), rate=Rate(2)),
    ),
    tir_row(
        "tirx.NarrowDataType",
        "src/tirx/transform/narrow_datatype.cc: index arithmetic in int32 where it fits",
        Place(at(Phase.FLAT)),
        fires=marks.ON_INTEGERS.measured(22),
        argument="32",
    ),
    tir_row(
        "s_tir.LoopPartition",
        "src/s_tir/transform/loop_partition.cc: loops split where a likely condition changes",
        Place(at(Phase.FLAT)),
        fires=Fires(options=PARTITION, prim_recipes=("loops_with_borders", "loops_with_tails"), rate=Rate(2)),
    ),
    tir_row(
        "tirx.VectorizeLoop",
        "src/tirx/transform/vectorize_loop.cc: vectorised loops become vectors",
        Place(at(Phase.FLAT), gives=Phase.VECTORS),
        AGAIN,
        fires=Fires(options=VECTORIZE, prim_recipes=marks.VECTOR_LOOPS, rate=Rate(4)),
        traits=(TakesAnyLoops(), FollowsAnnotations()),
        argument="True",
        sources=("tirx.transform.VectorizeLoop(False)",),
    ),
    tir_row(
        "s_tir.InjectVirtualThread",
        "src/s_tir/transform/inject_virtual_thread.cc: virtual threads become loops",
        Place(at(Phase.VECTORS)),
        fires=marks.VIRTUAL_THREADS.measured(4),
    ),
    tir_row(
        "s_tir.InjectDoubleBuffer",
        "src/s_tir/transform/inject_double_buffer.cc: marked buffers are doubled",
        Place(at(Phase.VECTORS)),
        fires=marks.DOUBLE_BUFFERS.measured(2),
        traits=(
            NoBuildSets("for buffers that are marked for it; the pass table has it"),
            # these replace the buffer, and not in the mark
            SetUpWithout(("s_tir.CompactBufferAllocation", "tirx.NarrowDataType")),
        ),
    ),
    tir_row(
        "tirx.StorageRewrite",
        "src/tirx/transform/storage_rewrite.cc: allocations share memory that is free again",
        Place(at(Phase.VECTORS), gives=Phase.STORAGE),
        fires=Fires(
            options=MERGE_STATIC, prim_recipes=("buffers_of_vectors", "short_lives", "carried_lives"), rate=Rate(19)
        ),
        traits=(LeftOutBy("tirx.disable_storage_rewrite"),),
    ),
    tir_row(
        "s_tir.HoistIfThenElse",
        "src/s_tir/transform/hoist_expression.cc: conditions move out of loops that they do not depend on",
        Place(at(Phase.STORAGE)),
        fires=Fires(options=HOIST_CONDITIONS, rate=Rate(16)),
        sources=("s_tir.transform.HoistIfThenElse('basic')",),
    ),
    tir_row(
        "tirx.UnrollLoop",
        "src/tirx/transform/unroll_loop.cc: loops marked unrolled",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(options=UNROLL, rate=Rate(9)),
    ),
    tir_row(
        "s_tir.RenormalizeSplitPattern",
        "src/s_tir/transform/renormalize_split_pattern.cc: patterns of floordiv and floormod",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=marks.ON_INTEGERS.measured(18),
    ),
    tir_row(
        "tirx.StmtSimplify",
        "src/tirx/transform/stmt_simplify.cc: rewrites of sym.Analyzer, conditions that are known",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(wants=marks.ON_INTEGERS.wants, options=SIMPLIFY, rate=Rate(16)),
    ),
    tir_row(
        "tirx.RemoveNoOp",
        "src/tirx/transform/remove_no_op.cc: statements without effect",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(prim_recipes=("no_ops",)),
        traits=(NoBuildSets("a limit of steps for debugging, and the profiler's calls"),),
    ),
    tir_row(
        "s_tir.RewriteUnsafeSelect",
        "src/s_tir/transform/rewrite_unsafe_select.cc: Select with loads becomes if_then_else",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=Fires(rate=Rate(12)),
    ),
    tir_row(
        "tirx.CommonSubexprElim",
        "src/tirx/transform/common_subexpr_elim.cc: equal expressions are computed once",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=marks.ON_INTEGERS.measured(25),
        traits=(LeftOutBy("tirx.disable_cse_tir"),),
    ),
    tir_row(
        "tirx.FP8ComputeLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: float8 arithmetic in float32 or float16",
        Place(at(Phase.STORAGE)),
        # as with bfloat16 above
        Promise(meaning=Meaning.APPROXIMATE, lowers_to="float8_e5m2"),
        fires=Fires(prim_recipes=marks.FLOAT8, rate=Rate(2)),
        sources=("tirx.transform.FP8ComputeLegalize('float16')",),
    ),
    tir_row(
        "s_tir.VerifyVTCMLimit",
        "src/s_tir/transform/verify_vtcm_limit.cc: checks memory of Hexagon",
        Place(at(Phase.STORAGE)),
        fires=marks.ON_THREADS,
        traits=(marks.CHECK,),
    ),
    tir_row(
        "s_tir.LowerVtcmAlloc",
        "src/s_tir/transform/lower_vtcm_alloc.cc: memory of Hexagon",
        Place(at(Phase.STORAGE)),
        fires=Fires(prim_recipes=("vtcm_buffers",)),
        traits=(InPlaceOnly(),),
    ),
    tir_row(
        "tirx.VerifyMemory",
        "src/tirx/analysis/verify_memory.cc: refuses host code that touches memory of a device",
        Place(span(Phase.FLAT, Phase.STORAGE)),
        fires=marks.ON_THREADS,
        traits=(marks.CHECK,),
        role=Role.GUARDS_DEVICE_MEMORY,
    ),
    tir_row(
        "tirx.AnnotateEntryFunc",
        "src/tirx/transform/primfunc_utils.cc: marks the only function as the entry",
        Place(span(Phase.BOUND, Phase.STORAGE)),
        Promise(idempotent=False, keeps_attributes=False),
        traits=(
            Quiet(
                "marks the entry of a module whose only public function is a PrimFunc; where a public Relax function "
                "calls the PrimFuncs, as in every program here, it leaves the module as it is"
            ),
        ),
    ),
    *(
        tir_row(
            f"{SYNCHRONISES}[{scope}]",
            "src/s_tir/transform/thread_storage_sync.cc: barriers of GPUs",
            Place(
                at(Phase.STORAGE),
                gives=Phase.SYNCED if scope == "warp" else None,
            ),
            fires=marks.BARRIERS[scope],
            traits=(
                ObjectNamed(SYNCHRONISES),
                *((PreparedBy((f"{SYNCHRONISES}[shared]", f"{SYNCHRONISES}[shared.dyn]")),) if scope == "warp" else ()),
                # from the last of them on, an access without a barrier is a race in memory of any scope
                Synchronises((scope, "global") if scope == "warp" else (scope,)),
            ),
            role=Role.SYNCHRONISES,
            argument=f"'{scope}'",
        )
        for scope in ("shared", "shared.dyn", "warp")
    ),
    tir_row(
        "s_tir.InferFragment",
        "src/s_tir/transform/infer_fragment.cc: fragments of tensor cores",
        Place(at(Phase.SYNCED)),
        fires=marks.on_threads("fragments"),
    ),
    tir_row(
        "s_tir.LowerThreadAllreduce",
        "src/s_tir/transform/lower_thread_allreduce.cc: reductions over threads of GPUs",
        Place(
            at(Phase.SYNCED),
            documented=(Documented("LowerThreadAllreduce: Require the target attribute", LIBRARY, after=_WITH_TARGET),),
        ),
        fires=marks.REDUCTIONS.measured(3),
        traits=(InPlaceOnly(),),
    ),
    tir_row(
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
    tir_row(
        "tirx.SplitHostDevice",
        "src/tirx/transform/split_host_device.cc: kernels become functions of their own",
        Place(
            at(Phase.SYNCED),
            gives=Phase.SPLIT,
            documented=(Documented("SplitHostDevice: Require the target attribute", LIBRARY, after=_WITH_TARGET),),
        ),
        Promise(keeps_attributes=False),
        fires=Fires(rate=Rate(9)),
        traits=(InPlaceOnly(),),
    ),
    tir_row(
        "tirx.MakePackedAPI",
        "src/tirx/transform/make_packed_api.cc: parameters come as TVMFFIAny, with checks",
        Place(at(Phase.SPLIT), gives=Phase.PACKED),
        Promise(keeps_attributes=False),
        fires=Fires(rate=Rate(29)),
        traits=(InPlaceOnly(),),
    ),
    tir_row(
        "tirx.FP8StorageLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: float8 is stored as uint8",
        # arithmetic in float8 that is left would become that of unsigned integers; so with bfloat16 below
        Place(at(Phase.PACKED), documented=(_PACKED,)),
        fires=Fires(prim_recipes=marks.FLOAT8, rate=Rate(28)),
        traits=(InPlaceOnly(), ReliesOn("tirx.FP8ComputeLegalize")),
    ),
    tir_row(
        "tirx.BF16StorageLegalize",
        "src/tirx/transform/unsupported_dtype_legalize.cc: bfloat16 is stored as uint16",
        Place(at(Phase.PACKED), gives=Phase.STORED, documented=(_PACKED,)),
        AGAIN,
        fires=Fires(prim_recipes=("bfloat16", "bfloat16_loops"), rate=Rate(4)),
        traits=(InPlaceOnly(), ReliesOn("tirx.BF16ComputeLegalize")),
    ),
    tir_row(
        "tirx.LowerTVMBuiltin",
        "src/tirx/transform/lower_tvm_builtin.cc: large allocations become workspaces, packed calls use a stack",
        Place(at(Phase.STORED), gives=Phase.BUILTINS),
        AGAIN,
        fires=Fires(rate=Rate(31)),
        traits=(InPlaceOnly(),),
    ),
    tir_row(
        "tirx.LowerIntrin",
        "src/tirx/transform/lower_intrin.cc: intrinsics of the target, floordiv by truncation",
        Place(
            at(Phase.BUILTINS),
            gives=Phase.INTRINSICS,
            documented=(Documented("LowerIntrin: Require the target attribute", LIBRARY, after=_WITH_TARGET),),
        ),
        Promise(meaning=Meaning.ROUNDED, idempotent=False),  # intrinsics become formulas and library calls
        fires=Fires(prim_recipes=("addressed_places",), rate=Rate(22)),
        traits=(InPlaceOnly(),),
    ),
)
"""In the order of the pipeline (`generators.passes.table.TIR_PIPELINE`): a row that is added takes its place in it."""
