"""Blocks with more inside than a store: blocks in blocks with matched buffers, loops, lets, two writers."""

from __future__ import annotations

import tvm
from tvm import s_tir, tirx

from generators.tir.block_loops import SPATIAL, BlockAxis, BlockBody, draw_nest
from generators.tir.expressions import Operands, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load
from generators.tir.reads import points, read
from generators.tir.stages import pick_recent, recent, result
from generators.tir.terms import Term, bounded
from generators.tvm_api import Node, Stmt


def draw_tiles(draft: FunctionDraft) -> None:
    """An outer block for each tile, an inner one for each element; the tile is a matched buffer half of the time."""
    options = [t for t in recent(draft) if t.dims and t.dims[-1].static and t.dims[-1].value > 1]
    tensor = pick_recent(draft, options)
    length = tensor.dims[-1].value
    sizes = [f for f in (2, 3, 4, 5) if length % f == 0]
    if not sizes:
        raise Unfit("no divisor")
    size = draft.source.pick(sizes)
    lead = tensor.dims[:-1]
    dims = (*lead, draft.extent(length // size))
    made: list[DraftTensor] = []
    matched = draft.source.flip()

    def outer(terms: list[Term]) -> BlockBody:
        inner, output, matches = _inner_block(draft, terms, tensor, size, matched)
        made.append(output)
        return BlockBody(inner, None, matches, simple=False)

    draft.features.add("match_buffer" if matched else "nested_block")
    draft.features.add("nested_block")
    statement = draw_nest(draft, draft.new_name("tile"), [BlockAxis(SPATIAL, d) for d in dims], outer)
    draft.statements.append(statement)


def _inner_block(
    draft: FunctionDraft, outer: list[Term], tensor: DraftTensor, size: int, matched: bool
) -> tuple[Stmt, DraftTensor, tuple[Node, ...]]:
    """The statement for one tile, the tensor that it writes, and the buffers that the outer block matches."""
    at = [t.expr for t in outer]
    start = tirx.Mul(at[-1], draft.number(size))
    extent = draft.extent(size)
    drawn: list[DraftTensor] = []
    view: list[Node] = []
    if matched:
        ones = [draft.number(1)] * (len(at) - 1)
        offset = tirx.Var(draft.new_name("off"), draft.index_dtype)
        tile = tirx.decl_buffer(
            [*ones, draft.number(size)],
            tensor.dtype,
            draft.new_name("Q"),
            layout=None,
            elem_offset=offset,
            offset_factor=1,
            strides=[tirx.Var(draft.new_name("s"), draft.index_dtype) for _ in at],
            scope=str(tensor.buffer.scope()),
        )
        region = [tvm.ir.Range.from_min_extent(i, draft.number(1)) for i in at[:-1]]
        region.append(tvm.ir.Range.from_min_extent(start, draft.number(size)))
        view.append(s_tir.MatchBufferRegion(tile, tirx.BufferRegion(tensor.buffer, region)))

    def body(terms: list[Term]) -> BlockBody:
        here = terms[0].expr
        full = tirx.Add(start, here)
        if matched:
            zeros = [draft.number(0)] * (len(at) - 1)
            element = Term(tirx.BufferLoad(view[0].buffer, [*zeros, here]), tensor.dtype, tensor.range, tensor.fraction)
        else:
            element = load(tensor, [*at[:-1], full])
        value = draw_value(Operands(draft, [element], [*outer, *terms]), tensor.dtype, 2)
        output = result(draft, "T", tensor.dims, value)
        drawn.append(output)
        return BlockBody(tirx.BufferStore(output.buffer, value.expr, [*at[:-1], full]), simple=False)

    matched_tensor = DraftTensor(view[0].buffer, "tile", (), tensor.dtype, tensor.range) if matched else None
    tensors = [matched_tensor] if matched_tensor else []
    inner = draw_nest(draft, draft.new_name("inner"), [BlockAxis(SPATIAL, extent)], body, tensors=tensors, plain=True)
    return inner, drawn[0], tuple(view)


def draw_row_block(draft: FunctionDraft) -> None:
    """A block for each row whose body is a loop: a let, then a store for each element."""
    options = [t for t in recent(draft) if t.dims]
    tensor = pick_recent(draft, options)
    lead, last = tensor.dims[:-1], tensor.dims[-1]

    def body(terms: list[Term]) -> BlockBody:
        return BlockBody(_row(draft, terms, tensor, last), simple=False)

    draft.features.add("loop_in_block")
    axes = [BlockAxis(SPATIAL, d) for d in lead]
    draft.statements.append(draw_nest(draft, draft.new_name("row"), axes, body, plain=True))


def _row(draft: FunctionDraft, outer: list[Term], tensor: DraftTensor, last: Extent) -> Stmt:
    var = tirx.Var(draft.new_name("j"), draft.index_dtype)
    here = Term(var, draft.index_dtype, draft.index_range(last))
    terms = [*outer, here]
    element = read(draft, tensor, points(terms, tensor.dims))
    value = draw_value(Operands(draft, [element], terms), tensor.dtype, 2)
    output = result(draft, "T", tensor.dims, value)
    named = tirx.Var(draft.new_name("x"), value.dtype)
    steps = [tirx.Bind(named, value.expr), tirx.BufferStore(output.buffer, named, [t.expr for t in terms])]
    draft.features.add("bind")
    return tirx.For(var, draft.number(0), last.expr, tirx.ForKind.SERIAL, tirx.SeqStmt(steps))


def draw_halves(draft: FunctionDraft) -> None:
    """Two blocks that write one tensor between them."""
    options = [t for t in recent(draft) if t.dims and t.dims[0].static and t.dims[0].value > 1]
    tensor = pick_recent(draft, options)
    cut = draft.source.integer(1, tensor.dims[0].value - 1)
    output: list[DraftTensor] = []
    for start, length in ((0, cut), (cut, tensor.dims[0].value - cut)):
        dims = [draft.extent(length), *tensor.dims[1:]]

        def body(terms: list[Term], start: int = start) -> BlockBody:
            first = tirx.Add(terms[0].expr, draft.number(start)) if start else terms[0].expr
            at = [first, *(t.expr for t in terms[1:])]
            element = load(tensor, at)
            if start:
                zero = tirx.Max(element.expr, element.expr) if tensor.dtype != "bool" else element.expr
                element = Term(zero, element.dtype, element.range, element.fraction)
            if not output:
                output.append(result(draft, "T", tensor.dims, element))
            return BlockBody(tirx.BufferStore(output[0].buffer, element.expr, at))

        draft.statements.append(draw_nest(draft, draft.new_name("half"), [BlockAxis(SPATIAL, d) for d in dims], body))
    draft.features.add("two_writers")


def draw_whole_update(draft: FunctionDraft) -> None:
    """One block without axes that goes over a whole tensor and overwrites it."""
    options = [t for t in recent(draft) if t.role != "input" and t.dtype != "bool" and t.dims]
    tensor = pick_recent(draft, options)
    variables = [tirx.Var(draft.new_name("j"), draft.index_dtype) for _ in tensor.dims]
    terms = [Term(v, draft.index_dtype, draft.index_range(d)) for v, d in zip(variables, tensor.dims, strict=True)]

    def body(_: list[Term]) -> BlockBody:
        now = load(tensor, variables)
        other = draw_value(Operands(draft, [now], terms), tensor.dtype, 1)
        if other.fraction > tensor.fraction:
            raise Unfit("finer than the tensor's fraction")
        statement = tirx.BufferStore(tensor.buffer, bounded(other, tensor.range).expr, variables)
        for var, dim in reversed(list(zip(variables, tensor.dims, strict=True))):
            statement = tirx.For(var, draft.number(0), dim.expr, tirx.ForKind.SERIAL, statement)
        return BlockBody(statement, simple=False)

    draft.features |= {"in_place", "block_without_axes"}
    draft.statements.append(draw_nest(draft, draft.new_name("whole"), [], body, plain=True))
