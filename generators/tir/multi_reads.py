"""Several elements of one tensor in one expression: neighbours, a transposed or reversed one, a constant row, pairs.

A pass that inlines a producer has to substitute each read on its own indices, which only
such expressions show. All indices are a variable and a number, in bounds without a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import tirx

from generators.dtypes import is_float
from generators.source import favour, weighted
from generators.tir.expressions import Operands, converted
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.terms import BY_NAME, Term, apply, truth
from generators.tvm_api import Expr


@dataclass(frozen=True, slots=True)
class _Index:
    """An index: an axis and a number, counted from the end where `backwards`, or the number alone."""

    axis: int | None
    offset: int = 0
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class MultiRead:
    """The axes of a block, and where it reads the tensor: two index tuples or more, no two alike."""

    tensor: DraftTensor
    axes: tuple[Extent, ...]
    reads: tuple[tuple[_Index, ...], ...]


def draw_multi_read(draft: FunctionDraft, tensor: DraftTensor) -> MultiRead | None:
    """Reads of a tensor that an earlier block wrote; None in most cases, and where its dims allow but one."""
    long = any(not dim.static or dim.value > 1 for dim in tensor.dims)
    if tensor.role == "input" or not long or not draft.source.flip(draft.knobs.multi_reads.share):
        return None
    axes = [_shorter(draft, dim) for dim in tensor.dims]
    first = tuple(
        _Index(number, draft.source.integer(0, _room(dim, axis)))
        for number, (dim, axis) in enumerate(zip(tensor.dims, axes, strict=True))
    )
    reads = [first]
    if draft.source.flip(draft.knobs.multi_reads.paired):
        reads += _paired(draft, tensor, axes, first)
    wanted = max(favour(draft.source, 2, 3), len(reads))
    for _ in range(draft.knobs.multi_reads.tries):
        moved = _moved(draft, tensor, axes, first)
        if len(reads) < wanted and moved not in reads:
            reads.append(moved)
    if len(reads) < 2:
        return None
    draft.features.add("read_apart")
    return MultiRead(tensor, tuple(axes), tuple(reads))


def _shorter(draft: FunctionDraft, dim: Extent) -> Extent:
    if not dim.static or dim.value < 2 or not draft.source.flip(draft.knobs.multi_reads.shorter):
        return dim
    return draft.extent(max(dim.value - favour(draft.source, 1, 2), 1))


def _room(dim: Extent, axis: Extent) -> int:
    """How far an axis may be shifted in a dim."""
    return dim.value - axis.value if dim.static and axis.static else 0


def _paired(
    draft: FunctionDraft, tensor: DraftTensor, axes: list[Extent], first: tuple[_Index, ...]
) -> list[tuple[_Index, ...]]:
    """A read along a new axis of one of the dims, which is added to the axes unless they get too many."""
    number = draft.source.integer(0, len(first) - 1)
    count = tensor.dims[number].high
    for axis in axes:
        count *= axis.high
    if count > draft.knobs.max_elements:
        return []
    axes.append(tensor.dims[number])
    draft.features.add("read_in_pairs")
    return [(*first[:number], _Index(len(axes) - 1), *first[number + 1 :])]


def _moved(
    draft: FunctionDraft, tensor: DraftTensor, axes: Sequence[Extent], first: tuple[_Index, ...]
) -> tuple[_Index, ...]:
    """The first read with some of its indices changed."""
    dims = tensor.dims
    if len(dims) > 1 and draft.source.flip(draft.knobs.multi_reads.transposed):
        one = draft.source.integer(0, len(dims) - 2)
        if _fits(dims[one], axes[one + 1]) and _fits(dims[one + 1], axes[one]):
            draft.features.add("read_transposed")
            return (*first[:one], _Index(one + 1), _Index(one), *first[one + 2 :])
    moved = list(first)
    for _ in range(favour(draft.source, 1, 2)):
        number = draft.source.pick([n for n, dim in enumerate(dims) if not dim.static or dim.value > 1])
        moved[number] = _other_index(draft, dims[number], axes, number)
    return tuple(moved)


def _fits(dim: Extent, axis: Extent) -> bool:
    """Whether an axis stays within a dim."""
    return dim.text == axis.text or (dim.static and axis.static and axis.value <= dim.value)


def _other_index(draft: FunctionDraft, dim: Extent, axes: Sequence[Extent], number: int) -> _Index:
    source = draft.source
    room = _room(dim, axes[number])
    knobs = draft.knobs.multi_reads
    options = [("backwards", knobs.backwards)]
    options += [("neighbour", knobs.neighbour)] if room else []
    options += [("constant", knobs.constant)] if dim.static and dim.value else []
    others = [other for other, axis in enumerate(axes) if other != number and _fits(dim, axis)]
    options += [("other", knobs.other)] if others else []
    match weighted(source, options):
        case "constant":
            return _Index(None, source.integer(0, dim.value - 1))
        case "other":
            axis = source.pick(others)
            return _Index(axis, source.integer(0, _room(dim, axes[axis])))
        case "backwards":
            return _Index(number, source.integer(0, room), backwards=True)
        case _:
            return _Index(number, source.integer(0, room))


def load_multi_read(draft: FunctionDraft, multi_read: MultiRead, terms: Sequence[Term]) -> Term:
    """All of the reads at the values of the axes, joined so that each of them matters."""
    elements = [
        load(
            multi_read.tensor,
            [_index(draft, index, dim, terms) for index, dim in zip(read, multi_read.tensor.dims, strict=True)],
        )
        for read in multi_read.reads
    ]
    joined = elements[0]
    for element in elements[1:]:
        joined = both(draft, joined, element)
    return joined


def _index(draft: FunctionDraft, index: _Index, dim: Extent, terms: Sequence[Term]) -> Expr:
    if index.axis is None:
        return draft.number(index.offset)
    var = terms[index.axis].expr
    if index.backwards:
        from_end = tirx.Sub(dim.expr, draft.number(1 + index.offset))
        return tirx.Sub(draft.number(dim.value - 1 - index.offset) if dim.static else from_end, var)
    return tirx.Add(var, draft.number(index.offset)) if index.offset else var


def both(draft: FunctionDraft, one: Term, other: Term) -> Term:
    """A value that depends on two, in the dtype of the first: the larger one where the drawn one does not fit."""
    if other.dtype != one.dtype:
        other = converted(Operands(draft), other, one.dtype)
    if one.dtype == "bool":
        return truth(draft.source.pick((tirx.And, tirx.Or))(one.expr, other.expr))
    names = draft.knobs.multi_reads.joins + (() if is_float(one.dtype) else ("bitwise_xor",))
    joined = apply(BY_NAME[draft.source.pick(names)], one, other)
    if joined is not None:
        return joined
    larger = tirx.Max(one.expr, other.expr)  # held by every dtype that holds both
    return Term(larger, one.dtype, one.range.maximum(other.range), max(one.fraction, other.fraction))
