"""Copies between global and shared memory that ask to be shared out among threads: what LowerAutoCopy rewrites.

Blocks as `Schedule.read_at` and `write_at` leave them, with the annotations `auto_copy`, `vector_bytes` and
`local_stage` (src/s_tir/transform/memhammer_lower_auto_copy.cc). Before the pass every thread copies the whole tile;
afterwards the threads share it. A copy to global memory goes over the tile that it reads in the order of the dims, as
InverseMapping asks for (memhammer_coalesce.cc: "A[f(i,j)] = B[i,j]").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from tvm import tirx

from generators.ranges import Range
from generators.source import Source, weighted
from generators.tir.block_loops import BlockBody
from generators.tir.function_draft import Annotations, DraftTensor, FunctionDraft, load
from generators.tir.launch import unravelled
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.bound_loops import (
    LoopAxis,
    around,
    axis,
    drawn_value,
    kernel_draft,
    kernel_program,
    realized,
    row_major,
    small_range,
    term,
    tile,
)
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence
from generators.tvm_api import Expr, Stmt


@dataclass(frozen=True, slots=True)
class AutoCopyKnobs:
    """Sizes and ratios of copies by all threads of a block."""

    dtypes: tuple[tuple[str, int], ...] = (
        ("float32", 5),
        ("float16", 4),
        ("int32", 3),
        ("int8", 2),
        ("bfloat16", 1),
        ("float64", 1),
    )
    """(dtype, weight): vectors of one width have one to sixteen of these."""
    sides: tuple[tuple[int, int], ...] = ((8, 4), (4, 3), (16, 3), (2, 2), (6, 2), (5, 1), (3, 1), (12, 1))
    """(extent of a tile, weight): multiples of vectors and warps, and others, which take a predicate."""
    ranks: tuple[tuple[int, int], ...] = ((2, 6), (1, 2), (3, 1))
    """(dims of a tile, weight)."""
    blocks: tuple[int, int] = (1, 3)
    """Blocks of threads."""
    threads: tuple[tuple[tuple[tuple[str, int], ...], int], ...] = (
        ((("threadIdx.x", 8),), 4),
        ((("threadIdx.x", 32),), 2),
        ((("threadIdx.y", 2), ("threadIdx.x", 4)), 3),
        ((("threadIdx.y", 3),), 1),
        ((("threadIdx.z", 2), ("threadIdx.y", 2), ("threadIdx.x", 2)), 1),
        ((), 1),
    )
    """(threads of a block, weight)."""
    warp: float = 0.2
    """The function says that it runs in warps, which adds 32 threads to what copies are shared out among. Few: the
    reference runs each of them."""
    vector_bytes: tuple[tuple[int, int], ...] = ((16, 4), (8, 3), (4, 3), (1, 1), (2, 1), (0, 2))
    """(bytes of a vector, weight); 0: no annotation."""
    local_stage: float = 0.4
    """A copy to shared memory goes by way of registers."""
    turned: float = 0.4
    """The tile has its dims in another order than the other side."""
    merged: float = 0.15
    """The tile of a copy to shared memory has one dim for two."""
    steps: float = 0.35
    """Tiles are copied and used in every turn of a loop."""
    lead: float = 0.3
    """The number of the tile is a dim of its own; else it is part of the first index."""
    lead_back: float = 0.1
    """The same where a tile is copied back. Few: after a dim of extent 1 the pass takes the wrong extents, which would
    hide everything else."""
    two: float = 0.4
    """Two tiles are used together."""
    back: float = 0.6
    """The result is copied back from a tile of shared memory; else threads store it themselves."""
    only_copied: float = 0.2
    """What is copied back is what was copied there."""
    another: float = 0.3
    """A thread reads elements that others have copied."""
    plain: float = 0.1
    """A copy without the annotation, or with False: every thread goes on copying all of it."""
    scopes: tuple[tuple[str, int], ...] = (("shared", 3), ("shared.dyn", 3))
    """(scope of a tile, weight)."""


KNOBS = AutoCopyKnobs()


@dataclass(frozen=True, slots=True)
class _Grid:
    """The loops around the copies: blocks, threads, and a serial one."""

    block: LoopAxis
    threads: tuple[LoopAxis, ...]
    step: LoopAxis

    @property
    def parts(self) -> int:
        """How many tiles there are."""
        return self.block.count * self.step.count

    def part(self, draft: FunctionDraft) -> Expr:
        """The number of the tile."""
        return row_major(draft, [self.block, self.step]) if self.step.count > 1 else self.block.var


@dataclass(frozen=True, slots=True)
class _Whole:
    """A tensor in global memory, of as many tiles as there are. lead: their number is a dim of its own."""

    tensor: DraftTensor
    shape: tuple[int, ...]
    lead: bool

    def at(self, draft: FunctionDraft, grid: _Grid, place: Sequence[Expr]) -> list[Expr]:
        """Where an element of a tile lies."""
        part = grid.part(draft)
        if self.lead:
            return [part, *place]
        return [tirx.Add(tirx.Mul(part, draft.number(self.shape[0])), place[0]), *place[1:]]


@dataclass(frozen=True, slots=True)
class _Tile:
    """A tile in shared memory: its dims may be turned round, and the last ones merged."""

    tensor: DraftTensor
    shape: tuple[int, ...]
    turned: bool

    def at(self, draft: FunctionDraft, place: Sequence[Expr]) -> list[Expr]:
        """Where an element lies."""
        where, extents = list(place), list(self.shape)
        if self.turned:
            where.reverse()
            extents.reverse()
        kept = len(self.tensor.dims)
        merged: Expr = where[kept - 1]
        for value, extent in zip(where[kept:], extents[kept:], strict=True):
            merged = tirx.Add(tirx.Mul(merged, draft.number(extent)), value)
        return [*where[: kept - 1], merged]


def draw_auto_copy(source: Source) -> PrimProgram:
    """A kernel that copies tiles to shared memory, computes from them, and stores the results."""
    draft = kernel_draft(source, weighted(source, KNOBS.dtypes))
    shape = tuple(weighted(source, KNOBS.sides) for _ in range(weighted(source, KNOBS.ranks)))
    if prod(shape) > draft.knobs.max_elements // 4:
        shape = (*shape[:-1], 2)
    grid = _grid(draft)
    filled = [_filled(draft, grid, shape) for _ in range(2 if source.flip(KNOBS.two) else 1)]
    tiles, copies = [t for t, _ in filled], [c for _, c in filled]
    steps, held = _used(draft, grid, shape, tiles)
    body = around(draft, [grid.step] if grid.step.count > 1 else [], sequence(*copies, *steps))
    owned = [*(t.tensor for t in tiles), *held]
    inner = realized(draft, draft.new_name("tiles"), BlockBody(body), allocated=owned, known=owned)
    nest = around(draft, [grid.block, *grid.threads], inner)
    if source.flip(KNOBS.warp) and not any(t.tag == "threadIdx.x" for t in grid.threads):
        draft.features.add("warp_execution")
        nest = realized(draft, "warps", BlockBody(nest), annotations={"warp_execution": True})
    draft.statements.append(nest)
    return kernel_program(draft)


def _grid(draft: FunctionDraft) -> _Grid:
    source = draft.source
    block = axis(draft, source.integer(*KNOBS.blocks), "blockIdx.x")
    threads = tuple(axis(draft, count, tag) for tag, count in weighted(source, KNOBS.threads))
    turns = source.pick((2, 3)) if source.flip(KNOBS.steps) else 1
    return _Grid(block, threads, axis(draft, turns))


def _global(
    draft: FunctionDraft, grid: _Grid, shape: tuple[int, ...], values: Range, role: str, share: float
) -> _Whole:
    own = draft.source.flip(share)
    dims = (grid.parts, *shape) if own else (grid.parts * shape[0], *shape[1:])
    extents = tuple(draft.extent(n) for n in dims)
    tensor = draft.add_tensor("A" if role == "input" else "T", extents, draft.dtype, values, role=role)
    return _Whole(tensor, shape, own)


def _shared(draft: FunctionDraft, shape: tuple[int, ...], values: Range, *, merge: bool) -> _Tile:
    turned = len(shape) > 1 and draft.source.flip(KNOBS.turned)
    kept = tuple(reversed(shape)) if turned else shape
    if merge and len(kept) > 1 and draft.source.flip(KNOBS.merged):
        kept = (*kept[:-2], kept[-2] * kept[-1])
        draft.features.add("merged_tile")
    draft.features |= {"turned_tile"} if turned else set()
    scope = weighted(draft.source, KNOBS.scopes)
    return _Tile(tile(draft, kept, draft.dtype, values, scope), shape, turned)


def _filled(draft: FunctionDraft, grid: _Grid, shape: tuple[int, ...]) -> tuple[_Tile, Stmt]:
    """A tile in shared memory, and the copy that fills it."""
    given = _global(draft, grid, shape, small_range(draft, draft.dtype), "input", KNOBS.lead)
    filled = _shared(draft, shape, given.tensor.range, merge=True)
    loops = [axis(draft, n) for n in shape]
    place = [loop.var for loop in loops]
    read = load(given.tensor, given.at(draft, grid, place))
    copied = tirx.BufferStore(filled.tensor.buffer, read.expr, filled.at(draft, place))
    return filled, _copy(draft, around(draft, loops, copied), filled, local_stage=True)


def _copy(draft: FunctionDraft, body: Stmt, shared: _Tile, *, local_stage: bool = False) -> Stmt:
    notes = _annotations(draft, local_stage=local_stage)
    name = draft.new_name("copy")
    return realized(draft, name, BlockBody(body), known=[shared.tensor], annotations=notes)


def _annotations(draft: FunctionDraft, *, local_stage: bool) -> Annotations:
    """What a copy asks for."""
    source = draft.source
    if source.flip(KNOBS.plain):
        return {"auto_copy": False} if source.flip() else {}
    notes: dict[str, object] = {"auto_copy": True}
    size = weighted(source, KNOBS.vector_bytes)
    if size:
        notes["vector_bytes"] = size
        draft.features.add("vector_bytes")
    if local_stage and source.flip(KNOBS.local_stage):
        notes["local_stage"] = True
        draft.features.add("local_stage")
    draft.features.add("auto_copy")
    return notes


def _used(
    draft: FunctionDraft, grid: _Grid, shape: tuple[int, ...], tiles: Sequence[_Tile]
) -> tuple[list[Stmt], list[DraftTensor]]:
    """The statements that compute from tiles and store the results, and the tiles that these take."""
    source, values = draft.source, Range(0 if draft.dtype.startswith("u") else -8, 8, True)
    if not source.flip(KNOBS.back):
        output = _global(draft, grid, shape, values, "output", KNOBS.lead)
        return [_computed(draft, grid, tiles, output.tensor, lambda place: output.at(draft, grid, place))], []
    kept = [t for t in tiles if len(t.tensor.dims) == len(shape)]
    if kept and source.flip(KNOBS.only_copied):
        return [_copied_back(draft, grid, source.pick(kept))], []
    result = _shared(draft, shape, values, merge=False)
    made = _computed(draft, grid, tiles, result.tensor, lambda place: result.at(draft, place))
    return [made, _copied_back(draft, grid, result)], [result.tensor]


def _computed(
    draft: FunctionDraft,
    grid: _Grid,
    tiles: Sequence[_Tile],
    target: DraftTensor,
    at: Callable[[Sequence[Expr]], list[Expr]],
) -> Stmt:
    """Threads that go through the elements of a tile and compute one value each from all tiles."""
    shape, source = tiles[0].shape, draft.source
    total, threads = prod(shape), prod(loop.count for loop in grid.threads)
    turn = axis(draft, -(-total // threads))
    loops = [turn, *grid.threads] if source.flip() else [*grid.threads, turn]
    position = row_major(draft, loops)
    place = unravelled(position, [draft.number(n) for n in shape])
    leaves = []
    for one in tiles:
        other = source.flip(KNOBS.another)
        where = [tirx.Sub(draft.number(n - 1), i) for n, i in zip(shape, place, strict=True)] if other else place
        leaves.append(load(one.tensor, one.at(draft, where)))
    value = drawn_value(draft, leaves, [term(draft, turn)], draft.dtype, target.range)
    body: Stmt = tirx.BufferStore(target.buffer, value.expr, at(place))
    if turn.count * threads != total:
        body = tirx.IfThenElse(tirx.LT(position, draft.number(total)), body, None)
    known = [target, *(t.tensor for t in tiles)]
    return realized(draft, draft.new_name("use"), BlockBody(around(draft, [turn], body)), known=known)


def _copied_back(draft: FunctionDraft, grid: _Grid, result: _Tile) -> Stmt:
    """A copy of a tile to global memory, in the order of the dims of the tile."""
    output = _global(draft, grid, result.shape, result.tensor.range, "output", KNOBS.lead_back)
    loops = [axis(draft, dim.value) for dim in result.tensor.dims]
    read = [loop.var for loop in loops]
    place = list(reversed(read)) if result.turned else read
    store = tirx.BufferStore(output.tensor.buffer, load(result.tensor, read).expr, output.at(draft, grid, place))
    draft.features.add("copied_back")
    return _copy(draft, around(draft, loops, store), result)


RECIPES: tuple[PrimRecipe, ...] = (PrimRecipe("auto_copy", draw_auto_copy, threads=True),)
