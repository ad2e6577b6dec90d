"""Kernels of tensor cores: products of fragments, copies to and from them, and the fragments of mma instructions.

What InferFragment reads, LowerAutoCopy turns into loads and stores of fragments
(src/s_tir/transform/memhammer_tensorcore_rewrite.cc), and TransformMmaBufferLayout gives each thread its part of. Each
warp computes a tile of the result. Sizes are those of one instruction for all types, 16 by 16 by 16, and 8 by 8 blocks
of m16n8k8 accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import s_tir, tirx

from generators.ranges import Range
from generators.source import Source, favour, weighted
from generators.tir.block_loops import BlockBody
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.bound_loops import (
    LoopAxis,
    add_input,
    around,
    axis,
    drawn_value,
    kernel_draft,
    kernel_program,
    realized,
    region,
    term,
    tile,
)
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence
from generators.tir.terms import Term, cast, constant
from generators.tvm_api import Expr, Node, Stmt, is_zero


@dataclass(frozen=True, slots=True)
class FragmentKnobs:
    """Sizes and ratios of kernels of tensor cores."""

    types: tuple[tuple[tuple[str, str], int], ...] = (
        (("float16", "float32"), 5),
        (("float16", "float16"), 2),
        (("int8", "int32"), 2),
    )
    """(factors and accumulator, weight)."""
    side: tuple[tuple[int, int], ...] = ((1, 5), (2, 3))
    """(fragments along a side of a warp's tile, weight): few, since every thread of the reference has all."""
    inner: tuple[tuple[int, int], ...] = ((1, 5), (2, 3))
    """(fragments that are multiplied for each of the result, weight)."""
    warps: tuple[tuple[int, int], ...] = ((1, 6), (2, 2))
    """(warps of a block, weight)."""
    by_columns: float = 0.4
    """The second factor lies transposed in memory."""
    started: float = 0.3
    """Accumulators start from a number other than zero."""
    to_shared: float = 0.4
    """The result goes to shared memory first, and from there to global memory; else at once."""
    explicit_lanes: float = 0.5
    """The 32 threads of a warp are a loop; else the function says that it runs in warps."""
    added: float = 0.3
    """What is copied from an accumulator has something added to it on the way."""
    vector_bytes: tuple[int, ...] = (16, 8, 4)
    """Of a copy to global memory."""


KNOBS = FragmentKnobs()
SIDE = 16
"""Rows and columns of a fragment."""
_LANES = 32


@dataclass(frozen=True, slots=True)
class _Tiles:
    """How many fragments a warp's tile has: rows, columns, and the inner length."""

    m: int
    n: int
    k: int


def _scaled(draft: FunctionDraft, value: Expr, factor: int) -> Expr:
    return tirx.Mul(value, draft.number(factor))


def _opaque(name: str, body: Stmt, reads: Sequence[Node], writes: Sequence[Node], **more: object) -> Stmt:
    """A block whose accesses go by pointers, so that it says itself what it reads and writes."""
    block = s_tir.SBlock([], list(reads), list(writes), name, body, **more)
    return s_tir.SBlockRealize([], tirx.IntImm("bool", 1), block)


def _whole(draft: FunctionDraft, tensor: DraftTensor) -> Node:
    shape = [dim.value for dim in tensor.dims]
    return region(draft, tensor, [draft.number(0) for _ in shape], shape)


def _int32(value: Expr) -> Expr:
    return value if str(value.ty.dtype) == "int32" else tirx.Cast("int32", value)


def draw_fragments(source: Source) -> PrimProgram:
    """A matrix product by fragments, loaded from and stored to global memory."""
    factors, total = weighted(source, KNOBS.types)
    draft = kernel_draft(source, factors)
    draft.index_dtype = "int32"
    tiles = _Tiles(*(weighted(source, sides) for sides in (KNOBS.side, KNOBS.side, KNOBS.inner)))
    block, warp = (
        axis(draft, source.pick((1, 2)), "blockIdx.x"),
        axis(draft, weighted(source, KNOBS.warps), "threadIdx.y"),
    )
    lanes = axis(draft, _LANES, "threadIdx.x")
    rows, columns, inner = tiles.m * SIDE, tiles.n * SIDE, tiles.k * SIDE
    parts, values = block.count * warp.count, Range(-2, 2, True)
    by_columns = source.flip(KNOBS.by_columns)
    a = add_input(draft, (parts * rows, inner), factors, values)
    b = add_input(draft, (columns, inner) if by_columns else (inner, columns), factors, values)
    c = draft.add_tensor(
        "T",
        tuple(draft.extent(n) for n in (parts * rows, columns)),
        total,
        Range(-4 * inner - 4, 4 * inner + 4, True),
        role="output",
    )
    fa, fb, fc = (
        tile(draft, shape, dtype, values, scope)
        for shape, dtype, scope in (
            ((rows, inner), factors, "wmma.matrix_a"),
            ((columns, inner) if by_columns else (inner, columns), factors, "wmma.matrix_b"),
            ((rows, columns), total, "wmma.accumulator"),
        )
    )
    first = _scaled(draft, tirx.Add(_scaled(draft, block.var, warp.count), warp.var), rows)
    layout = "col_major" if by_columns else "row_major"
    steps = [
        *_loads(draft, fa, a, (tiles.m, tiles.k), first, "row_major"),
        *_loads(draft, fb, b, (tiles.n, tiles.k) if by_columns else (tiles.k, tiles.n), draft.number(0), layout),
        *_products(draft, tiles, fa, fb, fc, by_columns),
        *_stores(draft, tiles, fc, c, first),
    ]
    owned = (fa, fb, fc)
    inside = _opaque(
        draft.new_name("product"),
        sequence(*steps),
        [_whole(draft, a), _whole(draft, b)],
        [_whole(draft, c)],
        alloc_buffers=[t.buffer for t in owned],
    )
    draft.read |= {a.name, b.name}
    draft.features |= {"fragments", layout}
    draft.statements.append(around(draft, [block, warp, lanes], inside))
    return kernel_program(draft)


def _loads(
    draft: FunctionDraft, fragment: DraftTensor, given: DraftTensor, counts: tuple[int, int], first: Expr, layout: str
) -> list[Stmt]:
    """Loads of as many fragments as a tile has, from the row `first` of a matrix on."""
    one, two = axis(draft, counts[0]), axis(draft, counts[1])
    stride = given.dims[1].value
    row = tirx.Add(first, _scaled(draft, one.var, SIDE))
    offset = tirx.Add(_scaled(draft, row, stride), _scaled(draft, two.var, SIDE))
    number = tirx.Add(_scaled(draft, one.var, counts[1]), two.var)
    where = given.buffer.access_ptr("r", offset=offset, extent=stride * SIDE)
    call = tirx.tvm_load_matrix_sync(
        fragment.buffer.data, SIDE, SIDE, SIDE, number, where, draft.number(stride), layout
    )
    return [around(draft, [one, two], tirx.Evaluate(call))]


def _products(
    draft: FunctionDraft, tiles: _Tiles, a: DraftTensor, b: DraftTensor, c: DraftTensor, by_columns: bool
) -> list[Stmt]:
    """Accumulators filled, and all products added."""
    i, j, k = axis(draft, tiles.m), axis(draft, tiles.n), axis(draft, tiles.k)
    number = tirx.Add(_scaled(draft, i.var, tiles.n), j.var)
    start = draft.source.integer(1, 3) if draft.source.flip(KNOBS.started) else 0
    value = constant(start, c.dtype).expr
    filled = tirx.tvm_fill_fragment(c.buffer.data, SIDE, SIDE, SIDE, number, value)
    left = tirx.Add(_scaled(draft, i.var, tiles.k), k.var)
    right = tirx.Add(
        *((_scaled(draft, j.var, tiles.k), k.var) if by_columns else (_scaled(draft, k.var, tiles.n), j.var))
    )
    added = tirx.tvm_mma_sync(c.buffer.data, number, a.buffer.data, left, b.buffer.data, right, c.buffer.data, number)
    one, two = axis(draft, tiles.m), axis(draft, tiles.n)
    begun = tirx.tvm_fill_fragment(
        c.buffer.data, SIDE, SIDE, SIDE, tirx.Add(_scaled(draft, one.var, tiles.n), two.var), value
    )
    if draft.source.flip():
        return [around(draft, [i, j], sequence(tirx.Evaluate(filled), around(draft, [k], tirx.Evaluate(added))))]
    return [around(draft, [one, two], tirx.Evaluate(begun)), around(draft, [k, i, j], tirx.Evaluate(added))]


def _stores(draft: FunctionDraft, tiles: _Tiles, c: DraftTensor, target: DraftTensor, first: Expr) -> list[Stmt]:
    """Stores of all accumulators, from the row `first` of a matrix on."""
    i, j = axis(draft, tiles.m), axis(draft, tiles.n)
    stride = target.dims[1].value
    row = tirx.Add(first, _scaled(draft, i.var, SIDE))
    where = target.buffer.access_ptr(
        "w", offset=tirx.Add(_scaled(draft, row, stride), _scaled(draft, j.var, SIDE)), extent=stride * SIDE
    )
    number = tirx.Add(_scaled(draft, i.var, tiles.n), j.var)
    call = tirx.tvm_store_matrix_sync(c.buffer.data, SIDE, SIDE, SIDE, number, where, draft.number(stride), "row_major")
    return [around(draft, [i, j], tirx.Evaluate(call))]


@dataclass(frozen=True, slots=True)
class _Warps:
    """The loops of a kernel whose copies are shared out: blocks, warps, and maybe the threads of a warp."""

    block: LoopAxis
    warp: LoopAxis
    lanes: tuple[LoopAxis, ...]

    def part(self, draft: FunctionDraft) -> Expr:
        """The number of the warp."""
        return tirx.Add(_scaled(draft, self.block.var, self.warp.count), self.warp.var)

    def around(self, draft: FunctionDraft, body: Stmt) -> Stmt:
        """The kernel, which says that it runs in warps where no loop does."""
        nest = around(draft, [self.block, self.warp, *self.lanes], body)
        if self.lanes:
            return nest
        draft.features.add("warp_execution")
        return realized(draft, "warps", BlockBody(nest), annotations={"warp_execution": True})


def _warps(draft: FunctionDraft) -> _Warps:
    source = draft.source
    lanes = (axis(draft, _LANES, "threadIdx.x"),) if source.flip(KNOBS.explicit_lanes) else ()
    block = axis(draft, source.pick((1, 2)), "blockIdx.x")
    return _Warps(block, axis(draft, weighted(source, KNOBS.warps), "threadIdx.y"), lanes)


def draw_fragment_copies(source: Source) -> PrimProgram:
    """A matrix product whose copies to and from fragments are plain loops, for LowerAutoCopy to lower."""
    total = favour(source, "float32", "float16")
    draft = kernel_draft(source, "float16")
    draft.index_dtype = "int32"
    tiles = _Tiles(*(weighted(source, sides) for sides in (KNOBS.side, KNOBS.side, KNOBS.inner)))
    warps = _warps(draft)
    rows, columns, inner = tiles.m * SIDE, tiles.n * SIDE, tiles.k * SIDE
    values, parts = Range(-2, 2, True), warps.block.count * warps.warp.count
    a = add_input(draft, (parts * rows, inner), "float16", values)
    b = add_input(draft, (columns, inner), "float16", values)
    scope = source.pick(("shared", "shared.dyn"))
    sa = tile(draft, (warps.warp.count * rows, inner), "float16", values, scope)
    sb = tile(draft, (columns, inner), "float16", values, scope)
    fa = tile(draft, (rows, inner), "float16", values, "wmma.matrix_a")
    fb = tile(draft, (columns, inner), "float16", values, "wmma.matrix_b")
    fc = tile(draft, (rows, columns), total, Range(-4 * inner - 4, 4 * inner + 4, True), "wmma.accumulator")
    owned = [sa, sb, fa, fb, fc]
    zero = draft.number(0)
    steps = [
        _copied(draft, owned, a, [_scaled(draft, warps.block.var, warps.warp.count * rows), zero], sa, [zero, zero]),
        _copied(draft, owned, b, [zero, zero], sb, [zero, zero]),
        _copied(draft, owned, sa, [_scaled(draft, warps.warp.var, rows), zero], fa, [zero, zero]),
        _copied(draft, owned, sb, [zero, zero], fb, [zero, zero]),
        _opaque(
            draft.new_name("product"),
            sequence(*_products(draft, tiles, fa, fb, fc, True)),
            [_whole(draft, fa), _whole(draft, fb)],
            [_whole(draft, fc)],
        ),
        *_result(draft, warps, fc, owned, "wmma.accumulator"),
    ]
    draft.features.add("fragment_copies")
    inside = realized(draft, draft.new_name("tiles"), BlockBody(sequence(*steps)), allocated=owned, known=owned)
    draft.statements.append(warps.around(draft, inside))
    return kernel_program(draft)


def _copied(
    draft: FunctionDraft,
    owned: Sequence[DraftTensor],
    given: DraftTensor,
    first: Sequence[Expr],
    target: DraftTensor,
    there: Sequence[Expr],
    shape: Sequence[int] = (),
    more: Term | None = None,
) -> Stmt:
    """A copy of a part of a matrix as loops that LowerAutoCopy rewrites; more: what is added to each element."""
    extents = shape or [min(x.value, y.value) for x, y in zip(given.dims, target.dims, strict=True)]
    loops = [axis(draft, n) for n in extents]
    from_, to = (
        [loop.var if is_zero(start) else tirx.Add(start, loop.var) for start, loop in zip(starts, loops, strict=True)]
        for starts in (first, there)
    )
    value = load(given, from_)
    expr = cast(value, target.dtype).expr
    expr = expr if more is None else tirx.Add(expr, more.expr)
    body = around(draft, loops, tirx.BufferStore(target.buffer, expr, to))
    notes = {"auto_copy": True, "vector_bytes": draft.source.pick(KNOBS.vector_bytes)}
    return realized(draft, draft.new_name("copy"), BlockBody(body), known=owned, annotations=notes)


def _result(draft: FunctionDraft, warps: _Warps, c: DraftTensor, owned: list[DraftTensor], scope: str) -> list[Stmt]:
    """The copies of accumulators to global memory, maybe by way of shared memory."""
    source, (rows, columns) = draft.source, [dim.value for dim in c.dims]
    parts = warps.block.count * warps.warp.count
    dims = tuple(draft.extent(n) for n in (parts * rows, columns))
    zero, first = draft.number(0), _scaled(draft, warps.part(draft), rows)
    more = None
    if source.flip(KNOBS.added):
        more = constant(source.integer(1, 3), c.dtype)
        draft.features.add("fused_store")
    values = Range(c.range.low, c.range.high + 3, True)
    target = draft.add_tensor("T", dims, c.dtype, values, role="output")
    if scope == "wmma.accumulator" and warps.warp.count == 1 and more is None and source.flip(KNOBS.to_shared):
        shared = tile(draft, (rows, columns), c.dtype, c.range, source.pick(("shared", "shared.dyn")))
        owned.append(shared)
        draft.features.add("store_to_shared")
        return [
            _copied(draft, owned, c, [zero, zero], shared, [zero, zero]),
            _copied(draft, owned, shared, [zero, zero], target, [first, zero]),
        ]
    return [_copied(draft, owned, c, [zero, zero], target, [first, zero], more=more)]


def draw_mma_copies(source: Source) -> PrimProgram:
    """Accumulators of m16n8k8 that each thread fills its part of, copied to global memory as a whole."""
    draft = kernel_draft(source, favour(source, "float32", "float16"))
    draft.index_dtype = "int32"
    rows, columns = weighted(source, KNOBS.side) * 16, source.pick((8, 16, 24))
    lanes = axis(draft, _LANES, "threadIdx.x")
    block = axis(draft, source.pick((1, 2)), "blockIdx.x")
    warps = _Warps(block, axis(draft, weighted(source, KNOBS.warps), "threadIdx.y"), (lanes,))
    given = add_input(draft, (block.count * warps.warp.count * rows, columns), draft.dtype, Range(-4, 4, True))
    held_by_warp = tile(draft, (rows, columns), draft.dtype, Range(-8, 8, True), "m16n8k8.matrixC")
    owned, first = [held_by_warp], _scaled(draft, warps.part(draft), rows)
    steps = [_own_parts(draft, lanes, first, given, held_by_warp, again=False)]
    if source.flip():
        steps.append(_own_parts(draft, lanes, first, given, held_by_warp, again=True))
    steps += _result(draft, warps, held_by_warp, owned, "m16n8k8.matrixC")
    draft.features.add("mma_accumulators")
    inside = realized(draft, draft.new_name("tiles"), BlockBody(sequence(*steps)), allocated=owned, known=owned)
    draft.statements.append(warps.around(draft, inside))
    return kernel_program(draft)


def draw_mma_registers(source: Source) -> PrimProgram:
    """A kernel with fragments of the factors of m16n8k8, which instructions take by address: they hold nothing here."""
    draft = kernel_draft(source, source.pick(("float32", "int32")))
    shapes = {"A": (32, 8), "B": (8, 32)}
    names = source.pick((("A",), ("B",), ("A", "B"), ("B", "A", "A")))
    count = source.pick((32, 40, 7))
    given = add_input(draft, (count,), draft.dtype, Range(-4, 4, True))
    target = draft.add_tensor("T", given.dims, draft.dtype, Range(-8, 8, True), role="output")
    owned = []
    for name in names:
        shape = [extent * weighted(source, KNOBS.side) for extent in shapes[name]]
        owned.append(tile(draft, shape, "float16", Range(-1, 1, True), f"m16n8k8.matrix{name}"))
    block, lanes = axis(draft, 2, "blockIdx.x"), axis(draft, _LANES, "threadIdx.x")
    at = tirx.Add(_scaled(draft, block.var, _LANES), lanes.var)
    value = drawn_value(draft, [load(given, [at])], [term(draft, lanes)], draft.dtype, target.range)
    stored = tirx.IfThenElse(tirx.LT(at, draft.number(count)), tirx.BufferStore(target.buffer, value.expr, [at]), None)
    steps = [*(_touched(draft, t) for t in owned), realized(draft, draft.new_name("use"), BlockBody(stored))]
    draft.features.add("mma_registers")
    inside = realized(draft, draft.new_name("tiles"), BlockBody(sequence(*steps)), allocated=owned, known=owned)
    draft.statements.append(around(draft, [block, lanes], inside))
    return kernel_program(draft)


def _touched(draft: FunctionDraft, fragment: DraftTensor) -> Stmt:
    """An access by address of all of a fragment, as an instruction makes it, which changes nothing: without one the
    buffer shrinks to a thread's part before the pass sees it."""
    whole = [_whole(draft, fragment)]
    return _opaque(draft.new_name("touch"), tirx.Evaluate(fragment.buffer.access_ptr("rw")), whole, whole)


def _own_parts(
    draft: FunctionDraft, lanes: LoopAxis, first: Expr, given: DraftTensor, fragment: DraftTensor, *, again: bool
) -> Stmt:
    """Each thread stores to its elements of all 8 by 8 blocks: two next to each other of one row (PTX ISA, "Matrix
    Fragments for mma.m16n8k8"). again: what they hold is part of the value."""
    rows, columns = (dim.value // 8 for dim in fragment.dims)
    i, j, pair = axis(draft, rows), axis(draft, columns), axis(draft, 2)
    row = tirx.Add(_scaled(draft, i.var, 8), tirx.FloorDiv(lanes.var, draft.number(4)))
    two = tirx.Mul(tirx.FloorMod(lanes.var, draft.number(4)), draft.number(2))
    column = tirx.Add(tirx.Add(_scaled(draft, j.var, 8), two), pair.var)
    leaves = [load(given, [tirx.Add(first, row), column]), *([load(fragment, [row, column])] if again else [])]
    value = drawn_value(draft, leaves, [term(draft, j)], fragment.dtype, fragment.range)
    body = around(draft, [i, j, pair], tirx.BufferStore(fragment.buffer, value.expr, [row, column]))
    return realized(draft, draft.new_name("part"), BlockBody(body), known=[fragment])


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("fragments", draw_fragments, threads=True),
    PrimRecipe("fragment_copies", draw_fragment_copies, threads=True),
    PrimRecipe("mma_copies", draw_mma_copies, threads=True),
    PrimRecipe("mma_registers", draw_mma_registers, threads=True),
)
