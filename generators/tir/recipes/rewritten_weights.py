"""Blocks that bring a weight into another layout, with the mark of tuning, and a block that reads the result."""

from __future__ import annotations

from dataclasses import replace

import tvm_ffi
from tvm import s_tir, tirx

from generators.source import Source
from generators.tir.block_loops import SPATIAL, BlockAxis, BlockBody, draw_nest
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, input_range, load
from generators.tir.functions import begun, finished
from generators.tir.hints import annotated_block
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import AROUND, KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.stages import draw_pointwise
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt

_MARK = "meta_schedule.layout_rewrite_preproc"


def draw_rewritten_weight(source: Source) -> PrimProgram:
    """A weight, transposed or in tiles, and what is made of it."""
    draft = begun(source, replace(AROUND, blocks=replace(AROUND.blocks, newest=1.0)))
    dims = tuple(draft.extent(source.pick((2, 4, 6, 8))) for _ in range(2))
    weight = draft.add_tensor("W", dims, draft.dtype, input_range(draft, draft.dtype), role="input")
    draft.statements.append(_rewritten(draft, weight, source.pick((_transposed, _tiled))(draft, dims)))
    draft.final = True
    draft.tensors.remove(weight)  # what is tuned reads the weight in its other layout alone
    draw_pointwise(draft)
    draft.tensors.insert(0, weight)
    draft.features.add("rewritten_weight")
    return finished(draft, schedulable=True)


_Layout = tuple[tuple[Extent, ...], tuple[tuple[int, int, int], ...]]
"""The dims of a layout; for each the axis of the weight that it is of, and by how much that is divided, then wrapped
(0: not at all)."""


def _transposed(draft: FunctionDraft, dims: tuple[Extent, ...]) -> _Layout:
    return dims[::-1], ((1, 1, 0), (0, 1, 0))


def _tiled(draft: FunctionDraft, dims: tuple[Extent, ...]) -> _Layout:
    size = 2
    rows = draft.extent(dims[0].value // size)
    return (rows, dims[1], draft.extent(size)), ((0, size, 0), (1, 1, 0), (0, 1, size))


def _rewritten(draft: FunctionDraft, weight: DraftTensor, layout: _Layout) -> Stmt:
    """The block that fills the other layout, with its mark."""
    dims, places = layout
    other = draft.add_tensor("R", dims, weight.dtype, weight.range, fraction=weight.fraction)

    def body(terms: list[Term]) -> BlockBody:
        at = [_index(draft, terms[axis].expr, size, wrap) for axis, size, wrap in places]
        return BlockBody(tirx.BufferStore(other.buffer, load(weight, [t.expr for t in terms]).expr, at))

    axes = [BlockAxis(SPATIAL, dim) for dim in weight.dims]
    nest = draw_nest(draft, draft.new_name("rewrite"), axes, body, plain=True)
    notes = {_MARK: 0 if draft.source.flip(KNOBS.weights.skipped) else 1}
    return tvm_ffi.structural_map(nest, (s_tir.SBlock, lambda block: annotated_block(block, notes)))


def _index(draft: FunctionDraft, axis: Expr, size: int, wrap: int) -> Expr:
    index = tirx.FloorDiv(axis, draft.number(size)) if size > 1 else axis
    return tirx.FloorMod(index, draft.number(wrap)) if wrap else index


RECIPES = (PrimRecipe("rewritten_weights", draw_rewritten_weight),)
