"""Kernels of blocks: software pipelines whose statements share memory, and blocks whose stores to shared memory pass
through registers.

The stages of a pipeline are the first and one other: then its start and its end need no condition, under which no
barrier may stand.
"""

from __future__ import annotations

from tvm import tirx

from generators.dtypes import is_float
from generators.ranges import Range
from generators.source import Source, favour, weighted
from generators.tir.function_draft import DraftTensor, Extent, load
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.block_drafts import (
    Loop,
    add_input,
    block_around,
    block_at,
    loop_of,
    output_over,
    value_at,
    within,
)
from generators.tir.recipes.memory_knobs import PIPELINES, SHARED
from generators.tir.recipes.pipelines import ORDER, STAGE, VERSIONS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.shared_memory import TiledKernel, kernel_of, tiled
from generators.tir.site import sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt

ASYNC = "software_pipeline_async_stages"
LOCAL_STAGE = "tirx.manifest_shared_memory_local_stage"


def _pipelined(source: Source) -> PrimProgram:
    """Tiles that threads fill for each other, one iteration or more ahead; copies of them may be asynchronous."""
    kernel = tiled(source)
    draft = kernel.draft
    stage = favour(source, 1, 2, 3)
    turns = loop_of(draft, draft.extent(stage + source.integer(1, 4)))
    loops = [kernel.blocks, turns, kernel.threads]
    tiles, steps = list[DraftTensor](), list[Stmt]()
    scope = source.pick(("shared", "shared.dyn"))
    copies = source.flip(PIPELINES.asynchronous)
    for _ in range(source.integer(1, 2)):
        given = add_input(draft, [loop.point.extent for loop in loops])
        tile = _tile(kernel, given, scope)
        steps.append(_fetch(kernel, loops, given, tile, copies=copies))
        tiles.append(tile)
    output = output_over(draft, loops)

    def use(at: list[Point]) -> Stmt:
        leaves = [load(tile, [_shifted(kernel, at[-1].term.expr)]) for tile in tiles]
        value = value_at(kernel.draft, output.dtype, at, *leaves)
        return store(output, value, [point.term.expr for point in at])

    steps.append(block_at(draft, draft.new_name("use"), loops, use))
    order = list(range(len(steps)))
    if source.flip():
        order = [(n + 1) % len(order) for n in order]
    notes: dict[str, object] = {STAGE: [0] * len(tiles) + [stage], ORDER: order}
    if copies:
        notes[ASYNC] = [0]
        draft.features.add("asynchronous_stage")
    body = block_around(draft, draft.new_name("body"), sequence(*steps), tiles)
    kernel.statements.append(turns.around(draft, body, notes))
    draft.features.add("pipeline")
    return kernel_of(kernel, schedulable=True)


def _tile(kernel: TiledKernel, given: DraftTensor, scope: str) -> DraftTensor:
    """Shared memory that holds as many elements of an input as there are threads."""
    dims, values = (kernel.threads.point.extent,), given.range.including(0)
    return kernel.draft.add_tensor("S", dims, given.dtype, values, fraction=given.fraction, role="local", scope=scope)


def _fetch(kernel: TiledKernel, loops: list[Loop], given: DraftTensor, tile: DraftTensor, *, copies: bool) -> Stmt:
    """A block that copies an element, or one that computes it where no copy has to do it."""
    draft, source = kernel.draft, kernel.source
    computed = not copies and source.flip()

    def make(at: list[Point]) -> Stmt:
        element = load(given, [point.term.expr for point in at])
        if copies and is_float(given.dtype) and source.flip(SHARED.padded):
            some = tirx.LT(at[-1].term.expr, draft.number(source.integer(1, kernel.length)))
            padded = tirx.if_then_else(some, element.expr, tirx.FloatImm(given.dtype, 0.0))
            element = Term(padded, given.dtype, tile.range, given.fraction)
        return store(tile, value_at(kernel.draft, tile.dtype, at, element) if computed else element, [at[-1].term.expr])

    notes = {VERSIONS: 0} if source.flip(PIPELINES.versions) else None
    return block_at(draft, draft.new_name("fetch"), loops, make, annotations=notes)


def _shifted(kernel: TiledKernel, index: Expr) -> Expr:
    """Usually the element of another thread."""
    draft, length = kernel.draft, kernel.length
    by = draft.number(kernel.source.integer(0, max(length - 1, 0)))
    return tirx.FloorMod(tirx.Add(index, by), draft.number(length))


def _staged(source: Source) -> PrimProgram:
    """Blocks that store to shared memory in loops, marked for a stage in registers; one reads what they made."""
    kernel = tiled(source)
    draft = kernel.draft
    turns = loop_of(draft, draft.extent(source.integer(1, 3)))
    outer = [kernel.blocks, turns, kernel.threads]
    tiles, steps = list[DraftTensor](), list[Stmt]()
    lanes = draft.extent(weighted(source, SHARED.lanes))
    for _ in range(source.integer(1, 2)):
        each = [loop_of(draft, draft.extent(source.integer(2, 3)))] if source.flip() else []
        vector = source.pick((tirx.ForKind.SERIAL, tirx.ForKind.VECTORIZED))
        each.append(loop_of(draft, lanes, kind=vector if lanes.value > 1 else tirx.ForKind.SERIAL))
        tile, step = _staging(kernel, outer, each)
        tiles.append(tile)
        steps.append(step)
    output = output_over(draft, outer)

    def use(at: list[Point]) -> Stmt:
        leaves = []
        for tile in tiles:
            rest = [draft.number(source.integer(0, dim.value - 1)) for dim in tile.dims[1:]]
            leaves.append(load(tile, [_shifted(kernel, at[-1].term.expr), *rest]))
        return store(output, value_at(kernel.draft, output.dtype, at, *leaves), [point.term.expr for point in at])

    steps.append(block_at(draft, draft.new_name("use"), outer, use))
    body = sequence(*steps)
    if source.flip(SHARED.inside):
        body = block_around(draft, draft.new_name("body"), body, tiles)
    kernel.statements.append(turns.around(draft, body))
    draft.features.add("local_stage")
    return kernel_of(kernel, schedulable=True)


def _staging(kernel: TiledKernel, outer: list[Loop], each: list[Loop]) -> tuple[DraftTensor, Stmt]:
    """A tile, and the loops over the marked block that fills it."""
    draft, source = kernel.draft, kernel.source
    extents: list[Extent] = [loop.point.extent for loop in each]
    given = add_input(draft, [kernel.blocks.point.extent, kernel.threads.point.extent, *extents])
    values, fraction = held_range(given.dtype)
    values = values if not given.dtype.startswith("u") else Range(0, values.high, True)
    dims = (kernel.threads.point.extent, *extents)
    tile = draft.add_tensor("S", dims, given.dtype, values, fraction=fraction, role="local", scope="shared")

    def make(at: list[Point]) -> Stmt:
        inner = [point.term.expr for point in at[2:]]
        element = load(given, [at[0].term.expr, *inner])
        value = value_at(kernel.draft, tile.dtype, at, element) if source.flip() else element
        return store(tile, value, inner)

    block = block_at(draft, draft.new_name("stage"), [*outer, *each], make, annotations={LOCAL_STAGE: 1})
    return tile, within(draft, each, block)


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("local_stage", _staged, threads=True),
    PrimRecipe("pipelined_kernel", _pipelined, threads=True),
)
