"""Kernels with several buffers in shared memory, which passes merge, order by barriers, fill by copies, or stage.

A block for each row of the output, a thread for each of its elements. A statement that stores to a buffer in shared
memory and one that reads another thread's element of it stand apart, so that a barrier can stand between them; no
barrier may stand under a condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvm import tirx

from generators import tvm_api
from generators.source import Source, favour, weighted
from generators.tir.expressions import Operands
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.functions import finished
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point, can_read, read
from generators.tir.recipes.block_drafts import Loop, add_input, drafted, loop_of, of_all, output_over, within
from generators.tir.recipes.memory_knobs import AROUND, SHARED
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt


@dataclass(slots=True)
class TiledKernel:
    """A kernel while it is drawn: its blocks and threads, its inputs, and the statements of a thread."""

    draft: FunctionDraft
    blocks: Loop
    threads: Loop
    inputs: list[DraftTensor]
    statements: list[Stmt] = field(default_factory=list)

    @property
    def source(self) -> Source:
        """The source of the function's choices."""
        return self.draft.source

    @property
    def thread(self) -> Expr:
        """The number of the thread in its block."""
        return self.threads.var

    @property
    def length(self) -> int:
        """How many threads a block has."""
        return self.threads.point.extent.value


def tiled(source: Source) -> TiledKernel:
    """A kernel without statements."""
    draft = drafted(source, AROUND)
    blocks = loop_of(draft, draft.extent(weighted(source, SHARED.rows)), tag="blockIdx.x")
    threads = loop_of(draft, draft.extent(weighted(source, SHARED.threads)), tag="threadIdx.x")
    dims = (blocks.point.extent, threads.point.extent)
    inputs = [add_input(draft, dims), add_input(draft, source.pick((dims, dims[1:])))]
    return TiledKernel(draft, blocks, threads, inputs)


def kernel_of(kernel: TiledKernel, *, schedulable: bool = False) -> PrimProgram:
    """The function of the kernel, which no rule schedules again."""
    draft = kernel.draft
    draft.statements.append(within(draft, [kernel.blocks, kernel.threads], sequence(*kernel.statements)))
    draft.features |= {"kernels", "shared_memory"}
    return finished(draft, schedulable=schedulable, attributes={"tirx.is_scheduled": True})


def shared(draft: FunctionDraft, count: int, scope: str, dtype: str = "") -> DraftTensor:
    """A buffer of a block of threads."""
    dtype = dtype or draft.draw_dtype()
    values, fraction = held_range(dtype)
    dims = (draft.extent(count),)
    return draft.add_tensor("S", dims, dtype, values, fraction=fraction, role="alloc", scope=scope)


def value(kernel: TiledKernel, dtype: str, more: Sequence[Point], *leaves: Term) -> Term:
    """A value of a thread, made of these and of an element of the inputs."""
    draft = kernel.draft
    at = [kernel.blocks.point, kernel.threads.point, *more]
    readable = [t for t in kernel.inputs if can_read(t, [point.extent for point in at])]
    given = read(draft, kernel.source.pick(readable), at)
    operands = Operands(draft, [], [point.term for point in at])
    return of_all(operands, dtype, kernel.source.integer(0, 1), given, *leaves)


def of_another(kernel: TiledKernel, count: int) -> Expr:
    """The index of an element among so many that in most cases another thread has made."""
    draft, last = kernel.draft, kernel.draft.number(count - 1)
    around = tirx.FloorMod(
        tirx.Add(kernel.thread, draft.number(kernel.source.integer(1, max(count - 1, 1)))), draft.number(count)
    )
    return favour(kernel.source, around, tirx.Sub(last, kernel.thread))


def shown(kernel: TiledKernel, *leaves: Term) -> Stmt:
    """An output's element of the thread, made of these."""
    output = output_over(kernel.draft, [kernel.blocks, kernel.threads])
    return store(output, value(kernel, output.dtype, (), *leaves), [kernel.blocks.var, kernel.thread])


def _merged(source: Source) -> PrimProgram:
    """Buffers made one after the other, each of elements of earlier ones, of several types, sizes and lifetimes."""
    kernel = tiled(source)
    draft = kernel.draft
    usual, other = ("shared.dyn", "shared") if source.flip(SHARED.dynamic) else ("shared", "shared.dyn")
    tiles: list[DraftTensor] = []
    unread: list[DraftTensor] = []
    at_once = source.flip()
    allocations: list[Stmt] = []
    for _ in range(source.integer(*SHARED.tiles)):
        scope = other if source.flip(SHARED.mixed) else usual
        tile = shared(draft, kernel.length * weighted(source, SHARED.sizes), scope)
        (allocations if at_once else kernel.statements).append(tirx.AllocBuffer(tile.buffer))
        chosen = [t for t in tiles if t in unread[:1] or source.flip(SHARED.kept / 2)]
        unread = [t for t in unread if t not in chosen]
        kernel.statements += _made(kernel, tile, chosen)
        tiles.append(tile)
        unread.append(tile)
    leaves = [_got(kernel, tile) for tile in unread]
    kernel.statements.append(shown(kernel, *leaves))
    kernel.statements[:0] = allocations
    draft.features.add("several_tiles")
    return kernel_of(kernel)


def _got(kernel: TiledKernel, tile: DraftTensor) -> Term:
    """An element of a tile, read through a view at times."""
    draft, count = kernel.draft, tile.elements
    index = of_another(kernel, count)
    if count % 2 or not kernel.source.flip(SHARED.view):
        return load(tile, [index])
    dims = (draft.extent(count // 2), draft.extent(2))
    view = draft.add_tensor(
        "Y", dims, tile.dtype, tile.range, fraction=tile.fraction, role="alloc", data=tile.buffer.data
    )
    kernel.statements.append(tvm_api.declared(view.buffer, tile.buffer.data))
    draft.features.add("view_of_tile")
    return load(view, [tirx.FloorDiv(index, draft.number(2)), tirx.FloorMod(index, draft.number(2))])


def _made(kernel: TiledKernel, tile: DraftTensor, chosen: Sequence[DraftTensor]) -> list[Stmt]:
    """The statements that store all elements of a tile: as many for each thread as it has."""
    draft, source = kernel.draft, kernel.source
    leaves = [_got(kernel, other) for other in chosen]
    parts = tile.elements // kernel.length
    if parts > 1 and source.flip(SHARED.looped):
        each = loop_of(draft, draft.extent(parts))
        index = tirx.Add(tirx.Mul(each.var, draft.number(kernel.length)), kernel.thread)
        return [each.around(draft, store(tile, value(kernel, tile.dtype, [each.point], *leaves), [index]))]
    made = []
    for part in range(parts):
        index = tirx.Add(kernel.thread, draft.number(part * kernel.length)) if part else kernel.thread
        made.append(store(tile, value(kernel, tile.dtype, (), *leaves), [index]))
    return made


def _rounds(source: Source) -> PrimProgram:
    """A tile made anew in each round, marked to be doubled, and read by the others."""
    kernel = tiled(source)
    draft = kernel.draft
    turns = loop_of(draft, draft.extent(source.integer(2, 5)))
    tile = shared(draft, kernel.length, favour(source, "shared", "shared.dyn"))
    kernel.inputs.append(add_input(draft, (turns.point.extent, kernel.threads.point.extent)))
    made = store(tile, value(kernel, tile.dtype, [turns.point]), [kernel.thread])
    marked = tirx.AttrStmt(tile.buffer.data, "double_buffer_scope", draft.number(1), made)
    output = output_over(draft, [kernel.blocks, turns, kernel.threads])
    got = load(tile, [of_another(kernel, kernel.length)])
    used = store(output, value(kernel, output.dtype, [turns.point], got), [kernel.blocks.var, turns.var, kernel.thread])
    kernel.statements.append(turns.around(draft, sequence(tirx.AllocBuffer(tile.buffer), marked, used)))
    draft.features.add("double_buffer")
    return kernel_of(kernel)


def _copied(source: Source) -> PrimProgram:
    """Tiles that asynchronous copies fill, in groups that are waited for one after the other."""
    kernel = tiled(source)
    draft = kernel.draft
    count, scope = source.integer(1, 3), favour(source, "shared", "shared.dyn")
    tiles, begun = [], []
    for _ in range(count):
        tile, copy = _copy(kernel, scope)
        tiles.append(tile)
        begun.append(_marked("async_commit_queue_scope", draft, 0, _marked("async_scope", draft, 1, copy)))
    ahead = source.flip(SHARED.asynchronous)
    for number, tile in enumerate(tiles):
        index = of_another(kernel, tile.elements)
        left = count - 1 - number if ahead else 0
        inner = _marked("async_wait_inflight_count", draft, left, shown(kernel, load(tile, [index])))
        waited = _marked("async_wait_queue_scope", draft, 0, inner)
        kernel.statements += [tirx.AllocBuffer(tile.buffer), begun[number], waited]
    if ahead:
        allocated, copies, waits = (kernel.statements[n::3] for n in range(3))
        kernel.statements = [*allocated, *copies, *waits]
    draft.features.add("asynchronous_copies")
    return kernel_of(kernel)


def _marked(key: str, draft: FunctionDraft, number: int, body: Stmt) -> Stmt:
    """A body under an attribute with a number."""
    return tirx.AttrStmt(0, key, tirx.IntImm("int32", number), body)


def _copy(kernel: TiledKernel, scope: str) -> tuple[DraftTensor, Stmt]:
    """A tile, and the copy of a row of an input of its own into it, by vectors."""
    draft, source = kernel.draft, kernel.source
    lanes = weighted(source, SHARED.lanes)
    count = draft.extent(kernel.length * lanes)
    given = add_input(draft, (kernel.blocks.point.extent, count))
    tile = draft.add_tensor(
        "S", (count,), given.dtype, given.range.including(0), fraction=given.fraction, role="alloc", scope=scope
    )
    lane = loop_of(draft, draft.extent(lanes), kind=tirx.ForKind.VECTORIZED)
    index = tirx.Add(tirx.Mul(kernel.thread, draft.number(lanes)), lane.var) if lanes > 1 else kernel.thread
    element = load(given, [kernel.blocks.var, index]).expr
    if given.dtype.startswith("float") and source.flip(SHARED.padded):
        some = tirx.LT(kernel.thread, draft.number(source.integer(1, kernel.length)))
        element = tirx.if_then_else(some, element, tirx.FloatImm(given.dtype, 0.0))
        draft.features.add("padded_copy")
    stored = tirx.BufferStore(tile.buffer, element, [index])
    return tile, lane.around(draft, stored) if lanes > 1 else stored


def _in_warps(source: Source) -> PrimProgram:
    """A buffer that the threads of a warp share, filled and read by others."""
    kernel = tiled(source)
    draft = kernel.draft
    count: Extent = draft.extent(source.pick((4, 8, 16, 32)))
    kernel.threads = loop_of(draft, count, tag="threadIdx.x")
    draft.tensors.clear()
    dims = (kernel.blocks.point.extent, count)
    kernel.inputs = [add_input(draft, dims), add_input(draft, dims[1:])]
    before: list[Term] = []
    for _ in range(source.integer(1, 2)):
        cell = shared(draft, count.value, "warp", source.pick(("float32", "int32")))
        made = store(cell, value(kernel, cell.dtype, (), *before), [kernel.thread])
        kernel.statements += [tirx.AllocBuffer(cell.buffer), made]
        before = [load(cell, [of_another(kernel, count.value)])]
    kernel.statements.append(shown(kernel, *before))
    draft.features.add("warp_memory")
    return kernel_of(kernel)


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("asynchronous_copies", _copied, threads=True),
    PrimRecipe("double_buffered_tile", _rounds, threads=True),
    PrimRecipe("several_tiles", _merged, threads=True),
    PrimRecipe("warp_memory", _in_warps, threads=True),
)
