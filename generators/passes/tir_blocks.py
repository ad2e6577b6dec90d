"""The first passes that `tvm.tirx.build` takes PrimFuncs through, in their order: those on sblocks, to the one that
makes loops of them. `tir_lowering.py` has the others, and says where the order comes from.
"""

from __future__ import annotations

from dataclasses import replace

from generators.passes import tir_marks as marks
from generators.passes.options import SIMPLIFY
from generators.passes.phases import at, span
from generators.passes.row import LIBRARY, Documented, Fires, PassRow, Phase, Place, Promise, Rate
from generators.passes.tir_row import AGAIN, tir_row
from generators.passes.traits import KeepsItsMark, MakesLoops, PreparedBy, Refuses

_NO_INIT = Documented(
    "Block Init part is not allowed in pass ConvertBlocksToOpaque", LIBRARY, after=("s_tir.LowerInitBlock",)
)
_CURRENT = "tvm.target.Target.current()"
_WITH_HOST = f"{_CURRENT}.with_host({_CURRENT}.host or {_CURRENT})"

ROWS: tuple[PassRow, ...] = (
    tir_row(
        "tirx.BindTarget",
        "src/tirx/transform/primfunc_utils.cc: gives every function the attribute target",
        Place(at(Phase.SYMBOLED), gives=Phase.BOUND, needs_target=True),
        Promise(keeps_attributes=False),
        fires=Fires(rate=Rate(48)),
        traits=(MakesLoops(),),
        argument=_WITH_HOST,
    ),
    tir_row(
        "s_tir.CanonicalizeLoop",
        "src/s_tir/transform/canonicalize_loop.cc: loops start at 0 and step by 1",
        # the pipeline has it first of all, and no pass after it moves the start of a loop
        Place(span(Phase.BOUND, Phase.STORAGE), fires_in=at(Phase.BOUND)),
        fires=Fires(prim_recipes=("moved_loops",), rate=Rate(6)),
    ),
    tir_row(
        "s_tir.LowerCrossThreadReduction",
        "src/s_tir/transform/lower_cross_thread_reduction.cc: reductions over threads of a GPU",
        Place(at(Phase.BOUND)),
        # thread variables stand in blocks that are not opaque yet; TVM's tests have check_well_formed=False
        Promise(idempotent=False, well_formed=False),
        fires=marks.on_threads("thread_reduction").measured(4),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.LowerInitBlock",
        "src/s_tir/transform/lower_init_block.cc: init becomes a condition on the reduction axes",
        Place(at(Phase.BOUND), gives=Phase.INIT),
        AGAIN,
        fires=Fires(rate=Rate(12)),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.PlanAndUpdateBufferAllocationLocation",
        "src/s_tir/transform/plan_update_buffer_allocation_location.cc: allocations move to where they are used",
        Place(at(Phase.INIT), gives=Phase.PLACED),
        fires=Fires(prim_recipes=("buffers_of_a_loop",), rate=Rate(8)),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.ConvertBlocksToOpaque",
        "src/s_tir/transform/convert_blocks_to_opaque.cc: block axes become their bindings",
        Place(at(Phase.PLACED), gives=Phase.OPAQUE, documented=(_NO_INIT,)),
        AGAIN,
        fires=Fires(rate=Rate(24)),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.LiftThreadBinding",
        "src/s_tir/transform/lift_thread_binding.cc: thread loops of GPUs",
        Place(at(Phase.OPAQUE)),
        fires=marks.ON_THREADS.measured(4),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.ManifestSharedMemoryLocalStage",
        "src/s_tir/transform/manifest_shared_memory_local_stage.cc: annotated blocks of GPUs",
        Place(at(Phase.OPAQUE)),
        fires=marks.LOCAL_STAGES.measured(1),
    ),
    tir_row(
        "s_tir.CompactBufferAllocation",
        "src/s_tir/transform/compact_buffer_region.cc: buffers shrink to the region that is used",
        Place(at(Phase.OPAQUE), gives=Phase.COMPACT),
        fires=Fires(rate=Rate(9), hints=frozenset({"buffer_dim_align"})),
    ),
    tir_row(
        "s_tir.LowerAutoCopy",
        "src/s_tir/transform/memhammer_lower_auto_copy.cc: annotated copies of GPUs",
        Place(at(Phase.COMPACT)),
        fires=replace(marks.on_threads("auto_copy", "fragment_copies", "mma_copies"), favoured=("auto_copy",)),
        traits=(KeepsItsMark(),),
    ),
    tir_row(
        "s_tir.UnifyThreadBinding",
        "src/s_tir/transform/unify_thread_binding.cc: thread loops of GPUs",
        Place(at(Phase.COMPACT)),
        fires=marks.ON_THREADS.measured(8),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.LowerMatchBuffer",
        "src/s_tir/transform/lower_match_buffer.cc: matched buffers become their source",
        Place(at(Phase.COMPACT)),
        AGAIN,
        fires=Fires(prim_recipes=("matched_regions",), marks=("MatchBufferRegion",), rate=Rate(2)),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.StmtSimplify",
        "src/s_tir/transform/stmt_simplify.cc: rewrites of sym.Analyzer, conditions that are known",
        Place(span(Phase.BOUND, Phase.STORAGE)),
        fires=Fires(wants=marks.ON_INTEGERS.wants, options=SIMPLIFY, rate=Rate(32)),
    ),
    tir_row(
        "s_tir.InjectPermutedLayout",
        "src/s_tir/transform/inject_permuted_layout.cc: annotated shared memory of GPUs",
        Place(at(Phase.COMPACT)),
        fires=marks.on_threads("permuted_layout").measured(1),
    ),
    tir_row(
        "s_tir.AnnotateIrregularLoop",
        "src/s_tir/transform/annotate_irregular_loop.cc: marks loops with break and continue",
        Place(at(Phase.COMPACT)),
        fires=Fires(prim_recipes=("jumping_loops",)),
        traits=(MakesLoops(),),
    ),
    tir_row(
        "s_tir.InjectSoftwarePipeline",
        "src/s_tir/transform/inject_software_pipeline.cc: annotated loops",
        Place(at(Phase.COMPACT)),
        fires=marks.PIPELINES.measured(2),
    ),
    tir_row(
        "s_tir.TransformMmaBufferLayout",
        "src/s_tir/transform/transform_mma_buffer_layout.cc: fragments of tensor cores",
        Place(at(Phase.COMPACT)),
        fires=marks.on_threads("mma_registers"),
        # the map of the accumulators is a function that tvm.s_tir.tensor_intrin.cuda registers: its import takes 40 s
        traits=(Refuses(r"index_map_func\.has_value\(\)"),),
    ),
    tir_row(
        "s_tir.LowerOpaqueBlock",
        "src/s_tir/transform/lower_opaque_block.cc: blocks become their bodies, their buffers allocations",
        Place(at(Phase.COMPACT), gives=Phase.LOOPS),
        AGAIN,
        fires=Fires(rate=Rate(28)),
        traits=(PreparedBy(("s_tir.LowerMatchBuffer",)), MakesLoops()),
    ),
)
"""In the order of the pipeline."""
