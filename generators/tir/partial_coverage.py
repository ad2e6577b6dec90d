"""Blocks that cover a part of the tensor that they write: the axis is bound to a loop that does not begin at 0.

The rest is written as well: before, by a block that goes over the whole tensor, whose values have to
survive there, or by blocks for the other parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tvm import tirx

from generators.ranges import Range
from generators.tir.block_loops import REDUCE, SPATIAL, BlockAxis, BlockBody, Segment, draw_nest
from generators.tir.expressions import Operands, draw_value
from generators.tir.function_draft import DraftTensor, FunctionDraft
from generators.tir.reads import can_read, points, read
from generators.tir.terms import Term, fits, held
from generators.tvm_api import Expr, Stmt


def draw_parts(draft: FunctionDraft, axes: Sequence[BlockAxis]) -> list[BlockAxis]:
    """The same axes, in most cases with a part for one or two of them; those given where none can be cut."""
    cuttable = [n for n, a in enumerate(axes) if a.kind == SPATIAL and a.extent.static and a.extent.value > 1]
    if not cuttable:
        return list(axes)
    cut = {draft.source.pick(cuttable)}
    if draft.source.flip(draft.knobs.parts.second):
        cut.add(draft.source.pick(cuttable))
    narrow = draft.source.flip()
    draft.features |= {"part_of_axis", "narrow_axis"} if narrow else {"part_of_axis"}
    return [_cut(draft, axis, narrow) if number in cut else axis for number, axis in enumerate(axes)]


def _cut(draft: FunctionDraft, axis: BlockAxis, narrow: bool) -> BlockAxis:
    """A part of the axis, in 80 % of the cases not from its beginning."""
    length = axis.extent.value
    begin = draft.source.integer(1, length - 1) if draft.source.flip(draft.knobs.parts.not_from_the_beginning) else 0
    last = length if begin else length - 1
    end = last if draft.source.flip(draft.knobs.parts.to_the_end) else draft.source.integer(begin + 1, last)
    return replace(axis, part=(begin, end), narrow=narrow)


def append_nest(
    draft: FunctionDraft, name: str, axes: Sequence[BlockAxis], make_body: Callable[[list[Term]], BlockBody]
) -> None:
    """The block of a stage that stores a new tensor, each index an axis of its own; see `draw_nest` for the parameters.

    With probability `parts.share` it covers a part, and other blocks write the rest.
    """
    share = draft.knobs.parts.share
    if any(axis.kind == REDUCE for axis in axes):
        share *= draft.knobs.parts.reducing_factor
    axes = draw_parts(draft, axes) if draft.source.flip(share) else axes
    whole = all(axis.part is None for axis in axes)
    stores: list[Stmt] = []
    variables: list[Expr] = []

    def body(terms: list[Term]) -> BlockBody:
        made = make_body(terms)
        stores.append(made.statement)
        variables.extend(term.expr for term in terms)
        return made

    nest = draw_nest(draft, name, axes, body, plain=not whole and draft.source.flip(draft.knobs.parts.plain_loops))
    if whole:
        draft.statements.append(nest)
        return
    tensor = _roomier(draft, next(t for t in draft.tensors if t.buffer.same_as(stores[0].buffer)))
    own = [axes[next(n for n, v in enumerate(variables) if v.same_as(index))] for index in stores[0].indices]
    draft.statements += _with_the_rest(draft, nest, tensor, [axis.part for axis in own])


def _roomier(draft: FunctionDraft, tensor: DraftTensor) -> DraftTensor:
    """The tensor with a wider range of small numbers: where its range is one number, all parts would look the same."""
    values = tensor.range.hull(Range(0 if tensor.dtype.startswith("u") else -4, 4, True))
    if tensor.dtype == "bool" or not fits(values, tensor.dtype, tensor.fraction):
        return tensor
    roomier = replace(tensor, range=values)
    draft.tensors[draft.tensors.index(tensor)] = roomier
    return roomier


def _with_the_rest(
    draft: FunctionDraft, nest: Stmt, tensor: DraftTensor, parts: Sequence[Segment | None]
) -> list[Stmt]:
    """The nest for the parts of the dims, with nests that write the other elements."""
    cut = [number for number, part in enumerate(parts) if part is not None]
    if len(cut) > 1 or draft.source.flip(draft.knobs.parts.over_whole):
        draft.features.add("part_over_whole")
        return [_filler(draft, tensor, [None] * len(parts)), nest]
    part = parts[cut[0]]
    assert part is not None
    others = [(begin, end) for begin, end in ((0, part[0]), (part[1], tensor.dims[cut[0]].value)) if begin < end]
    nests = [_filler(draft, tensor, [*parts[: cut[0]], other, *parts[cut[0] + 1 :]]) for other in others]
    nests.insert(draft.source.integer(0, len(nests)), nest)
    draft.features.add("part_beside_parts")
    return nests


def _filler(draft: FunctionDraft, tensor: DraftTensor, parts: Sequence[Segment | None]) -> Stmt:
    """A block that writes these parts of the dims with values that the tensor may hold."""
    dims = tensor.dims
    others = [t for t in draft.tensors if t is not tensor and not t.special and can_read(t, dims)]

    def body(terms: list[Term]) -> BlockBody:
        leaves = [read(draft, draft.source.pick(others), points(terms, dims))] if others else []
        value = held(draw_value(Operands(draft, leaves, terms), tensor.dtype, 1), tensor.range, tensor.fraction)
        return BlockBody(tirx.BufferStore(tensor.buffer, value.expr, [term.expr for term in terms]))

    narrow = draft.source.flip()
    axes = [BlockAxis(SPATIAL, dim, part, narrow) for dim, part in zip(dims, parts, strict=True)]
    return draw_nest(draft, draft.new_name("fill"), axes, body)
