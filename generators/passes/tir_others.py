"""The passes of `tvm.tirx.transform` and `tvm.s_tir.transform` that `tvm.tirx.build` runs for no host, or only with an
option: other code generators, schedulers and people call them.

Where they may stand follows from the form that their visitors read: sblocks, loops, flat buffers, packed functions.
"""

from __future__ import annotations

from generators.passes.options import OPTIONS
from generators.passes.phases import span
from generators.passes.row import Meaning, PassRow, Phase, ProgramFacts
from generators.source import Source

SCHEDULE = "s_tir.Schedule"
"""The row of random schedules: not one pass, but the steps that were drawn with a program."""
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
        SCHEDULE,
        (),
        frozenset({Phase.LEGAL}),
        "python/tvm/s_tir/schedule/schedule.py: what each primitive keeps is in `generators.tir.primitives`",
        meaning=Meaning.ROUNDED,
        idempotent=False,
        wants=("schedule",),
        draw_source=_schedule,
    ),
    PassRow(
        "s_tir.ConvertSSA",
        ("s_tir.transform.ConvertSSA()",),
        BLOCKS,
        "src/s_tir/transform/convert_ssa.cc: every variable, block axes too, is defined once",
    ),
    PassRow(
        "tirx.ConvertSSA",
        ("tirx.transform.ConvertSSA()",),
        LOOPS,
        "src/tirx/transform/ir_utils.cc: every variable is defined once",
    ),
    PassRow(
        "tirx.ForceNarrowIndexToInt32",
        ("tirx.transform.ForceNarrowIndexToInt32()",),
        LOOPS,
        "src/tirx/transform/force_narrow_index_to_i32.cc: 64-bit integers become 32-bit ones, as WebGPU wants",
        refuses=r"has dtype (T\.)?int64\. The function is|max_value\(target_data_type_\)|exceeds range of int32",
        wants=("integers",),
        idempotent=False,
        notes="a sum that no longer fits is an overflow, which the reference discards; T.clz gets a cast each time",
    ),
    PassRow(
        "tirx.InlinePrivateFunctions",
        ("tirx.transform.InlinePrivateFunctions()",),
        LOOPS,
        "src/tirx/transform/inline_private_functions.cc: calls of private PrimFuncs become their bodies",
        keeps_functions=False,
    ),
    PassRow(
        "tirx.PointerValueTypeRewrite",
        ("tirx.transform.PointerValueTypeRewrite()",),
        span(Phase.VECTORS, Phase.STORAGE),
        "src/tirx/transform/storage_rewrite.cc: buffers that are read as vectors alone become buffers of vectors",
    ),
    PassRow(
        "tirx.RemoveAssume",
        ("tirx.transform.RemoveAssume()",),
        LOOPS,
        "src/tirx/transform/remove_assume.cc: T.assume has no effect once it has been used",
    ),
    PassRow(
        "tirx.SkipAssert",
        ("tirx.transform.SkipAssert()",),
        span(Phase.BOUND, Phase.STORED),
        "src/tirx/transform/skip_assert.cc: as tirx.disable_assert does before everything else",
    ),
    PassRow(
        "s_tir.HoistExpression",
        ("s_tir.transform.HoistExpression()",),
        LOOPS,
        "src/s_tir/transform/hoist_expression.cc: conditions and bindings move out of loops",
        options=OPTIONS["s_tir.HoistExpression"],
        idempotent=False,
    ),
    PassRow(
        "s_tir.RemoveStoreUndef",
        ("s_tir.transform.RemoveStoreUndef()",),
        LOOPS,
        "src/s_tir/transform/remove_store_undef.cc: stores of T.undef",
    ),
    PassRow(
        "s_tir.RemoveWeightLayoutRewriteBlock",
        (
            "s_tir.transform.RemoveWeightLayoutRewriteBlock()",
            "s_tir.transform.RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)",
        ),
        frozenset({Phase.LEGAL}),
        "src/s_tir/transform/remove_weight_layout_rewrite_block.cc: blocks that tuning has marked, as if "
        "callers gave what they make",
        meaning=Meaning.CHANGED,
        keeps_buffers=False,
        idempotent=False,
        notes="the mark stays on what is left of the block, and the pass cannot read that",
    ),
    PassRow(
        "s_tir.UseAssumeToReduceBranches",
        ("s_tir.transform.UseAssumeToReduceBranches()",),
        frozenset({Phase.BOUND}),
        "src/s_tir/transform/using_assume_to_reduce_branches.cc: branches of padding that T.assume decides",
    ),
    PassRow(
        "s_tir.DefaultGPUSchedule",
        ("s_tir.transform.DefaultGPUSchedule()",),
        frozenset({Phase.LEGAL, Phase.FUSED}),
        "src/s_tir/transform/default_gpu_schedule.cc: loops without threads get them",
        needs_target=True,
        recipes=("injective_then_reduce", "matmul_chain"),
        wants=("gpu_target", "prim_funcs"),
        in_repertoire=False,
    ),
    PassRow(
        "tirx.LowerWarpMemory",
        ("tirx.transform.LowerWarpMemory()",),
        frozenset({Phase.STORED}),
        "src/tirx/transform/lower_warp_memory.cc: memory of warps becomes registers and shuffles, for the device alone",
        in_repertoire=False,
    ),
    PassRow(
        "s_tir.LowerAsyncDMA",
        ("s_tir.transform.LowerAsyncDMA()",),
        frozenset({Phase.STORAGE}),
        "src/s_tir/transform/lower_async_dma.cc: annotated copies, with tirx.use_async_copy",
        in_repertoire=False,
    ),
    PassRow(
        "s_tir.InjectPTXAsyncCopy",
        ("s_tir.transform.InjectPTXAsyncCopy()",),
        frozenset({Phase.SYNCED}),
        "src/s_tir/transform/inject_ptx_async_copy.cc: annotated copies, with tirx.use_async_copy",
        in_repertoire=False,
    ),
)
