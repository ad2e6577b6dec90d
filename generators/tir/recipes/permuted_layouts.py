"""Tiles of shared memory in which rows are to be permuted, against bank conflicts: what InjectPermutedLayout rewrites.

Every block that accesses the tile has the annotation `permuted_layout`, so that all agree on where an element lies
(src/s_tir/transform/inject_permuted_layout.cc). Rows have a multiple of 64 elements, or of 32 where there is an even
number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tvm import tirx

from generators.ranges import Range
from generators.source import Source, favour, weighted
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
class PermutedLayoutKnobs:
    """Sizes and ratios of tiles with permuted rows."""

    dtypes: tuple[tuple[str, int], ...] = (("float16", 6), ("float32", 2), ("int8", 1), ("bfloat16", 1))
    """(dtype, weight): the layout is made for elements of 16 bits, and does not look at them."""
    columns: tuple[tuple[int, int], ...] = ((64, 5), (32, 4), (128, 2), (96, 1))
    """(elements of a row, weight)."""
    rows: tuple[tuple[int, int], ...] = ((8, 4), (4, 2), (16, 1), (2, 2), (12, 1), (6, 1))
    """(rows, weight): even ones, fewer and more than the eight after which the layout repeats."""
    planes: float = 0.2
    """The tile has a dim before these two."""
    threads: tuple[tuple[int, int], ...] = ((16, 3), (32, 4), (8, 2), (64, 1))
    """(threads of a block, weight)."""
    vector: float = 0.7
    """Copies are of eight elements at a time, in a vectorised loop."""
    turned: float = 0.3
    """Threads read columns."""
    steps: float = 0.3
    """The tile is filled and read in every turn of a loop."""
    scopes: tuple[tuple[str, int], ...] = (("shared.dyn", 3), ("shared", 3))
    """(scope of the tile, weight)."""
    unmarked: float = 0.1
    """No block has the annotation, or has one that says no."""
    another: float = 0.5
    """A value is made of two elements."""
    blocks: tuple[int, int] = (1, 3)
    """Blocks of threads."""


KNOBS = PermutedLayoutKnobs()
_LANES = 8
"""Elements that stay together (VECTORIZE_FACTOR of the pass)."""


@dataclass(frozen=True, slots=True)
class _Kernel:
    """The loops of the kernel, and the shape of its tile."""

    draft: FunctionDraft
    block: LoopAxis
    thread: LoopAxis
    turns: LoopAxis
    shape: tuple[int, ...]
    notes: Annotations

    @property
    def part(self) -> Expr:
        """The number of the tile."""
        several = self.turns.count > 1
        return row_major(self.draft, [self.block, self.turns]) if several else self.block.var

    def whole(self, values: Range, role: str) -> DraftTensor:
        """A tensor of all tiles in global memory."""
        dims = (self.block.count * self.turns.count, *self.shape)
        extents = tuple(self.draft.extent(n) for n in dims)
        return self.draft.add_tensor("A" if role == "input" else "T", extents, self.draft.dtype, values, role=role)

    def marked(self, walk: _ThreadWalk, body: Stmt, held: DraftTensor) -> Stmt:
        """A block of the annotation, in which each thread does the body for its elements."""
        body = around(self.draft, [walk.lanes], body, tirx.ForKind.VECTORIZED) if walk.lanes.count > 1 else body
        body = body if walk.condition is None else tirx.IfThenElse(walk.condition, body, None)
        block = BlockBody(around(self.draft, [walk.turn], body))
        return realized(self.draft, self.draft.new_name("tile"), block, known=[held], annotations=self.notes)


@dataclass(frozen=True, slots=True)
class _ThreadWalk:
    """How a thread goes through its elements: its turns, the lanes of a vector, the indices, and which turns count."""

    turn: LoopAxis
    lanes: LoopAxis
    place: list[Expr]
    condition: Expr | None


def draw_permuted_layout(source: Source) -> PrimProgram:
    """A kernel that fills a tile and reads it, both in permuted blocks."""
    draft = kernel_draft(source, weighted(source, KNOBS.dtypes))
    rows, columns = weighted(source, KNOBS.rows), weighted(source, KNOBS.columns)
    kernel = _Kernel(
        draft,
        axis(draft, source.integer(*KNOBS.blocks), "blockIdx.x"),
        axis(draft, weighted(source, KNOBS.threads), "threadIdx.x"),
        axis(draft, source.pick((2, 3)) if source.flip(KNOBS.steps) else 1),
        (2, rows, columns) if source.flip(KNOBS.planes) else (rows, columns),
        _annotations(draft),
    )
    given = kernel.whole(small_range(draft, draft.dtype), "input")
    held = tile(draft, kernel.shape, draft.dtype, given.range, weighted(source, KNOBS.scopes))
    steps = sequence(_filled(kernel, given, held), _read(kernel, held))
    body = around(draft, [kernel.turns] if kernel.turns.count > 1 else [], steps)
    inner = realized(draft, draft.new_name("tiles"), BlockBody(body), allocated=[held], known=[held])
    draft.statements.append(around(draft, [kernel.block, kernel.thread], inner))
    return kernel_program(draft)


def _annotations(draft: FunctionDraft) -> Annotations:
    source = draft.source
    if source.flip(KNOBS.unmarked):
        return source.pick(({}, {"permuted_layout": 0}, {"permuted_layout": ""}))
    draft.features.add("permuted_layout")
    return {"permuted_layout": favour(source, 1, True, "g2s_A")}


def _walk(kernel: _Kernel, *, wide: bool, turned: bool) -> _ThreadWalk:
    """wide: eight elements of a row at a time. turned: column by column, else row by row."""
    draft, shape = kernel.draft, kernel.shape
    lanes = axis(draft, _LANES if wide else 1)
    pieces = [*shape[:-1], shape[-1] // lanes.count]
    order = [*pieces[:-2], pieces[-1], pieces[-2]] if turned else pieces
    turn = axis(draft, -(-prod(pieces) // kernel.thread.count))
    position = row_major(draft, [turn, kernel.thread])
    place = unravelled(position, [draft.number(n) for n in order])
    if turned:
        place = [*place[:-2], place[-1], place[-2]]
    if wide:
        place[-1] = tirx.Add(tirx.Mul(place[-1], draft.number(lanes.count)), lanes.var)
        draft.features.add("permuted_vectors")
    left = turn.count * kernel.thread.count != prod(pieces)
    return _ThreadWalk(turn, lanes, place, tirx.LT(position, draft.number(prod(pieces))) if left else None)


def _filled(kernel: _Kernel, given: DraftTensor, held: DraftTensor) -> Stmt:
    """The block that copies the elements there."""
    walk = _walk(kernel, wide=kernel.draft.source.flip(KNOBS.vector), turned=False)
    store = tirx.BufferStore(held.buffer, load(given, [kernel.part, *walk.place]).expr, walk.place)
    return kernel.marked(walk, store, held)


def _read(kernel: _Kernel, held: DraftTensor) -> Stmt:
    """The block that computes a value for each element, from it and from another one of its row or of its column."""
    draft, source = kernel.draft, kernel.draft.source
    turned = source.flip(KNOBS.turned)
    walk = _walk(kernel, wide=not turned and source.flip(KNOBS.vector), turned=turned)
    leaves = [load(held, walk.place)]
    if source.flip(KNOBS.another):
        dim = source.pick((-1, -2))
        other = list(walk.place)
        other[dim] = tirx.Sub(draft.number(kernel.shape[dim] - 1), other[dim])
        leaves.append(load(held, other))
    output = kernel.whole(Range(-8, 8, True), "output")
    value = drawn_value(draft, leaves, [term(draft, walk.turn)], draft.dtype, output.range)
    return kernel.marked(walk, tirx.BufferStore(output.buffer, value.expr, [kernel.part, *walk.place]), held)


RECIPES: tuple[PrimRecipe, ...] = (PrimRecipe("permuted_layout", draw_permuted_layout, threads=True),)
