"""The passes of `tvm.tirx.transform` and `tvm.s_tir.transform` that `tvm.tirx.build` runs for no host, or only with an
option: other code generators, schedulers and users call them.

Where they may stand follows from the form that their visitors read: sblocks, loops, flat buffers, packed functions.
"""

from __future__ import annotations

from generators.passes.options import HOIST_EXPRESSIONS
from generators.passes.phases import span
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
from generators.passes.traits import FiresLess, NoBuildSets, ObjectNamed, Quiet, Refuses
from generators.program_facts import Feature, ProgramFacts
from generators.source import Source

_NAMES_ALONE = (
    "gives new variables to a function whose variables another one defines too, so that the two differ in names, which "
    "the structural hash by which changes are counted leaves out; a function that defines one twice is rejected by "
    "TVM's verifiers"
)
BLOCKS = span(Phase.BOUND, Phase.COMPACT)
LOOPS = span(Phase.LOOPS, Phase.STORAGE)


def _schedule(source: Source, facts: ProgramFacts) -> str | None:
    """The steps one after another, as one expression."""
    if not facts.schedule:
        return None
    steps = ("sch := tvm.s_tir.Schedule(mod)", f"sch.work_on({facts.scheduled!r})", *facts.schedule, "sch.mod")
    return f"tvm.transform.module_pass(lambda mod, ctx: ({', '.join(steps)})[-1], opt_level=0)"


ROWS: tuple[PassRow, ...] = (
    PassRow(
        "s_tir.Schedule",
        (),
        "python/tvm/s_tir/schedule/schedule.py: what each primitive keeps is in `generators.tir.primitives`",
        Place(frozenset({Phase.LEGAL})),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(wants=frozenset({Feature.SCHEDULE}), draw_source=_schedule, rate=Rate(98)),
        role=Role.SCHEDULES,
    ),
    PassRow(
        "s_tir.ConvertSSA",
        ("s_tir.transform.ConvertSSA()",),
        "src/s_tir/transform/convert_ssa.cc: every variable, block axes too, is defined once",
        Place(BLOCKS),
        fires=Fires(prim_recipes=("twins", "block_twins")),
        traits=(Quiet(_NAMES_ALONE),),
    ),
    PassRow(
        "tirx.ConvertSSA",
        ("tirx.transform.ConvertSSA()",),
        "src/tirx/transform/ir_utils.cc: every variable is defined once",
        Place(LOOPS),
        fires=Fires(prim_recipes=("twins", "block_twins")),
        traits=(Quiet(_NAMES_ALONE),),
    ),
    PassRow(
        "tirx.ForceNarrowIndexToInt32",
        ("tirx.transform.ForceNarrowIndexToInt32()",),
        "src/tirx/transform/force_narrow_index_to_i32.cc: 64-bit integers become 32-bit ones, as WebGPU wants",
        Place(LOOPS),
        # a sum that no longer fits is an overflow, which the reference discards; T.clz gets a cast each time
        promise=Promise(idempotent=False),
        fires=Fires(wants=frozenset({Feature.INTEGERS})),
        traits=(
            ObjectNamed("tirx.NarrowDataType"),
            Refuses(r"has dtype (T\.)?int64\. The function is|max_value\(target_data_type_\)|exceeds range of int32"),
        ),
    ),
    PassRow(
        "tirx.InlinePrivateFunctions",
        ("tirx.transform.InlinePrivateFunctions()",),
        "src/tirx/transform/inline_private_functions.cc: calls of private PrimFuncs become their bodies",
        Place(frozenset({Phase.LEGAL})),  # AttachGlobalSymbol makes every PrimFunc a public one
        promise=Promise(keeps_functions=False),
        fires=Fires(prim_recipes=("calls_of_prim_funcs",), rate=Rate(6)),
    ),
    PassRow(
        "tirx.PointerValueTypeRewrite",
        ("tirx.transform.PointerValueTypeRewrite()",),
        "src/tirx/transform/storage_rewrite.cc: buffers that are read as vectors alone become buffers of vectors",
        Place(frozenset({Phase.VECTORS})),  # StorageRewrite does the same to buffers that are no parameters
        promise=Promise(keeps_buffers=False),
        fires=Fires(prim_recipes=("buffers_of_vectors",)),
    ),
    PassRow(
        "tirx.RemoveAssume",
        ("tirx.transform.RemoveAssume()",),
        "src/tirx/transform/remove_assume.cc: T.assume has no effect once it has been used",
        Place(LOOPS),
        fires=Fires(prim_recipes=("assumed_padding",), rate=Rate(2)),
    ),
    PassRow(
        "tirx.SkipAssert",
        ("tirx.transform.SkipAssert()",),
        "src/tirx/transform/skip_assert.cc: as tirx.disable_assert does before everything else",
        Place(span(Phase.BOUND, Phase.STORED)),
        fires=Fires(rate=Rate(2)),
    ),
    PassRow(
        "s_tir.HoistExpression",
        ("s_tir.transform.HoistExpression()",),
        "src/s_tir/transform/hoist_expression.cc: conditions and bindings move out of loops",
        Place(LOOPS),
        promise=Promise(idempotent=False),
        fires=Fires(options=HOIST_EXPRESSIONS, rate=Rate(2)),
        traits=(NoBuildSets("of a pass in no pipeline; the pass table has it"),),
    ),
    PassRow(
        "s_tir.RemoveStoreUndef",
        ("s_tir.transform.RemoveStoreUndef()",),
        "src/s_tir/transform/remove_store_undef.cc: stores of T.undef",
        Place(LOOPS),
        fires=Fires(prim_recipes=("undefined_stores",), rate=Rate(2)),
    ),
    PassRow(
        "s_tir.RemoveWeightLayoutRewriteBlock",
        (
            "s_tir.transform.RemoveWeightLayoutRewriteBlock()",
            "s_tir.transform.RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)",
        ),
        "src/s_tir/transform/remove_weight_layout_rewrite_block.cc: blocks that tuning has marked, as if "
        "callers gave what they make",
        Place(frozenset({Phase.LEGAL})),
        promise=Promise(
            meaning=Meaning.CHANGED,
            # the mark stays on the rest of the block, which the pass cannot read
            idempotent=False,
            keeps_buffers=False,
        ),
        fires=Fires(prim_recipes=("rewritten_weights",), rate=Rate(7)),
        # the mark is of a block that copies: another pass, or a reduction, may have made it another one
        traits=(Refuses(r"Check failed: \((store|load)\) is false"),),
    ),
    PassRow(
        "s_tir.UseAssumeToReduceBranches",
        ("s_tir.transform.UseAssumeToReduceBranches()",),
        "src/s_tir/transform/using_assume_to_reduce_branches.cc: branches of padding that T.assume decides",
        Place(frozenset({Phase.BOUND})),
        fires=Fires(prim_recipes=("assumed_padding",)),
    ),
    PassRow(
        "s_tir.DefaultGPUSchedule",
        ("s_tir.transform.DefaultGPUSchedule()",),
        "src/s_tir/transform/default_gpu_schedule.cc: loops without threads get them",
        Place(frozenset({Phase.LEGAL, Phase.FUSED}), needs_target=True),
        fires=Fires(
            recipes=("injective_then_reduce", "matmul_chain"),
            wants=frozenset({Feature.GPU_TARGET, Feature.PRIM_FUNCS}),
            in_repertoire=False,
            rate=Rate(2),
        ),
        traits=(
            ObjectNamed("DefaultGPUSchedule"),
            FiresLess(
                0.1,
                "most applications end by a check of TVM's: a root block of several blocks is taken for a "
                "leaf, 'Duplicated block name root' (39 of 58); a pass that dies changes nothing",
            ),
        ),
    ),
    PassRow(
        "tirx.LowerWarpMemory",
        ("tirx.transform.LowerWarpMemory()",),
        "src/tirx/transform/lower_warp_memory.cc: memory of warps becomes registers and shuffles, for the device alone",
        Place(
            frozenset({Phase.STORED}),
            documented=(
                Documented("LowerWarpMemory: Require the target attribute", LIBRARY, after=("tirx.BindTarget",)),
            ),
        ),
        fires=Fires(prim_recipes=("warp_memory",), marks=("warp",), in_repertoire=False),
    ),
    PassRow(
        "s_tir.LowerAsyncDMA",
        ("s_tir.transform.LowerAsyncDMA()",),
        "src/s_tir/transform/lower_async_dma.cc: annotated copies, with tirx.use_async_copy",
        Place(frozenset({Phase.STORAGE})),
        fires=Fires(in_repertoire=False),
        traits=(Quiet("calls the DMA engine of Hexagon, which nothing here has"),),
    ),
    PassRow(
        "s_tir.InjectPTXAsyncCopy",
        ("s_tir.transform.InjectPTXAsyncCopy()",),
        "src/s_tir/transform/inject_ptx_async_copy.cc: annotated copies, with tirx.use_async_copy",
        Place(frozenset({Phase.SYNCED})),
        fires=Fires(
            prim_recipes=("asynchronous_copies", "pipelined_kernel"),
            marks=("async_scope", "async_commit_queue_scope", "async_wait_queue_scope", "async_wait_inflight_count"),
            in_repertoire=False,
        ),
    ),
)
