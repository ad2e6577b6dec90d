"""Blocks that see regions of buffers as buffers of their own: read and written, regions of regions, with fewer dims,
symbolic offsets, strides and extents."""

from __future__ import annotations

from dataclasses import replace

import tvm
from tvm import s_tir, tirx

from generators.source import Source
from generators.tir.block_loops import SPATIAL, BlockAxis, BlockBody, draw_nest
from generators.tir.expressions import Operands, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, input_range, load
from generators.tir.functions import begun, draw_one, finished
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import AROUND_BLOCKS, KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.terms import Term, held
from generators.tvm_api import Expr, Node, Stmt


def draw_matched_regions(source: Source) -> PrimProgram:
    """A block for each tile of a buffer, which matches its tile in the input and in the output."""
    draft = begun(source, AROUND_BLOCKS)
    if source.flip():
        draw_one(draft)
    draft.final = True
    draft.statements.append(_tiles(draft))
    draft.features |= {"match_buffer", "nested_block"}
    return finished(draft, schedulable=True)


def _tiles(draft: FunctionDraft) -> Stmt:
    source = draft.source
    size, count = source.pick((2, 4, 6)), source.integer(1, 3)
    lead = tuple(draft.extent(source.integer(1, 3)) for _ in range(source.integer(0, 2)))
    dims = (*lead, draft.extent(size * count))
    given = draft.add_tensor("A", dims, draft.dtype, input_range(draft, draft.dtype), role="input")
    made = draft.add_tensor("T", dims, draft.dtype, given.range, fraction=given.fraction, role="output")
    axes = [BlockAxis(SPATIAL, dim) for dim in (*lead, draft.extent(count))]

    def outer(terms: list[Term]) -> BlockBody:
        at = [term.expr for term in terms]
        start = tirx.Mul(at[-1], draft.number(size))
        views = [_matched(draft, tensor, at[:-1], start, size) for tensor in (given, made)]
        inner = _halves if source.flip(KNOBS.matches.nested) else _elements
        body = inner(draft, [view for view, _ in views], size, terms)
        return BlockBody(body, None, tuple(match for _, match in views), simple=False)

    return draw_nest(draft, draft.new_name("tile"), axes, outer, tensors=(), plain=True)


def _matched(
    draft: FunctionDraft, tensor: DraftTensor, lead: list[Expr], start: Expr, size: int
) -> tuple[DraftTensor, Node]:
    """A buffer for the elements from a start on in the last dim, one in each other one; and the match."""
    source = draft.source
    flat = bool(lead) and source.flip(KNOBS.matches.fewer_dims)
    ones = [] if flat else [draft.number(1)] * len(lead)
    extent: Expr = draft.number(size)
    layout: Layout = {"elem_offset": tirx.Var(draft.new_name("off"), draft.index_dtype), "offset_factor": 1}
    if source.flip():
        layout["strides"] = [tirx.Var(draft.new_name("s"), draft.index_dtype) for _ in (*ones, extent)]
    if source.flip(KNOBS.matches.symbolic):
        extent = tirx.Var(draft.new_name("e"), draft.index_dtype)
    buffer = tirx.decl_buffer(
        [*ones, extent], tensor.dtype, draft.new_name("Q"), layout=None, scope=str(tensor.buffer.scope()), **layout
    )
    region = [tvm.ir.Range.from_min_extent(index, draft.number(1)) for index in lead]
    region.append(tvm.ir.Range.from_min_extent(start, draft.number(size)))
    dims = tuple(Extent("1", 1, 1, 1, one) for one in ones)
    last = Extent(str(size), size, size, size, extent)
    view = DraftTensor(buffer, str(buffer.name), (*dims, last), tensor.dtype, tensor.range, tensor.fraction)
    return view, s_tir.MatchBufferRegion(buffer, tirx.BufferRegion(tensor.buffer, region))


def _elements(draft: FunctionDraft, views: list[DraftTensor], size: int, terms: list[Term]) -> Stmt:
    """A block for each element of a tile, over as many as the view has."""
    given, made = views
    zeros: list[Expr] = [draft.number(0)] * (len(given.dims) - 1)

    def body(inner: list[Term]) -> BlockBody:
        element = load(given, [*zeros, inner[0].expr])
        value = held(draw_value(Operands(draft, [element], [*terms, *inner]), made.dtype, 1), made.range, made.fraction)
        lead: list[Expr] = [draft.number(0)] * (len(made.dims) - 1)
        return BlockBody(tirx.BufferStore(made.buffer, value.expr, [*lead, inner[0].expr]), simple=False)

    axes = [BlockAxis(SPATIAL, replace(made.dims[-1], expr=draft.number(size)))]
    return draw_nest(draft, draft.new_name("inner"), axes, body, tensors=views, plain=True)


def _halves(draft: FunctionDraft, views: list[DraftTensor], size: int, terms: list[Term]) -> Stmt:
    """A block for each half of a tile, which matches its half in both views."""
    half = size // 2

    def body(inner: list[Term]) -> BlockBody:
        start = tirx.Mul(inner[0].expr, draft.number(half))
        matches = [_matched(draft, v, [draft.number(0)] * (len(v.dims) - 1), start, half) for v in views]
        return BlockBody(
            _elements(draft, [view for view, _ in matches], half, [*terms, *inner]),
            None,
            tuple(match for _, match in matches),
            simple=False,
        )

    axes = [BlockAxis(SPATIAL, draft.extent(2))]
    return draw_nest(draft, draft.new_name("half"), axes, body, tensors=views, plain=True)


RECIPES = (PrimRecipe("matched_regions", draw_matched_regions),)
