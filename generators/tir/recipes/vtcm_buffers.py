"""Buffers in Hexagon's tightly coupled memory: what LowerVtcmAlloc rewrites, on any target.

The pass is in the pipeline of every target (src/s_tir/transform/lower_vtcm_alloc.cc); no run time here
has such memory, so that the result is interpreted and not run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tvm import tirx

from generators.source import Source, favour, weighted
from generators.tir.block_loops import SPATIAL, BlockAxis, BlockBody, draw_nest
from generators.tir.expressions import Operands
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, input_range, load
from generators.tir.functions import finished
from generators.tir.knobs import DEFAULT
from generators.tir.launch import made_of
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.terms import Term, held


@dataclass(frozen=True, slots=True)
class VtcmKnobs:
    """Sizes and ratios of functions with such buffers."""

    buffers: tuple[int, int] = (1, 3)
    """Buffers, each computed from the one before."""
    scopes: tuple[tuple[str, int], ...] = (("global.vtcm", 5), ("global", 2), ("local", 1))
    """(scope, weight) of each."""


KNOBS = VtcmKnobs()
_TIR = replace(DEFAULT, forms=replace(DEFAULT.forms, dead=0.0))


def draw_vtcm(source: Source) -> PrimProgram:
    """A chain of blocks through buffers of which most are in this memory."""
    draft = FunctionDraft(source, _TIR)
    draft.dtype = weighted(source, draft.knobs.dtypes)
    draft.index_dtype = source.pick(("int32", "int64"))
    dims = tuple(draft.draw_extent(empty=False) for _ in range(favour(source, 2, 1, 3)))
    while any(dim.value > 8 for dim in dims) and len(dims) > 2:
        dims = dims[1:]
    tensor = draft.add_tensor("A", dims, draft.dtype, input_range(draft, draft.dtype), role="input")
    for number in range(source.integer(*KNOBS.buffers)):
        scope = "global.vtcm" if number == 0 else weighted(source, KNOBS.scopes)
        draft.features |= {"vtcm"} if scope == "global.vtcm" else set()
        tensor = _next(draft, dims, tensor, "local", scope)
    _next(draft, dims, tensor, "output", "global")
    return finished(draft, schedulable=True)


def _next(draft: FunctionDraft, dims: tuple[Extent, ...], before: DraftTensor, role: str, scope: str) -> DraftTensor:
    """A tensor computed from another, element by element or from the last to the first."""
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    tensor = draft.add_tensor("V", dims, dtype, values, fraction=fraction, role=role, scope=scope)
    backwards = draft.source.flip()

    def body(terms: list[Term]) -> BlockBody:
        at = [t.expr for t in terms]
        last = [tirx.Sub(draft.number(dim.value - 1), i) for dim, i in zip(dims, at, strict=True)]
        leaf = load(before, last if backwards else at)
        value = made_of(Operands(draft, [], terms, lets=False), dtype, draft.source.integer(1, 2), leaf)
        value = value if dtype == "bool" else held(value, values, fraction)
        return BlockBody(tirx.BufferStore(tensor.buffer, value.expr, at))

    axes = [BlockAxis(SPATIAL, dim) for dim in dims]
    draft.statements.append(draw_nest(draft, draft.new_name("move"), axes, body))
    return tensor


RECIPES: tuple[PrimRecipe, ...] = (PrimRecipe("vtcm_buffers", draw_vtcm, host=True),)
