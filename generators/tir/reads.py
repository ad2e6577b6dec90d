"""Reads of tensors inside a block: most often at its own point, else reversed, guarded, wrapped or gathered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.source import favour, weighted
from generators.tir.expressions import Operands, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load
from generators.tir.swarm import Unusual
from generators.tir.terms import BY_NAME, Term, apply, chosen, constant
from generators.tvm_api import Expr


@dataclass(frozen=True, slots=True)
class Point:
    """An axis variable as a term, and the length that it counts up to."""

    term: Term
    extent: Extent


def counter(draft: FunctionDraft, extent: Extent) -> Point:
    """A new loop variable that counts up to the extent."""
    var = tirx.Var(draft.new_name("i"), draft.index_dtype)
    return Point(Term(var, draft.index_dtype, draft.index_range(extent)), extent)


def points(terms: Sequence[Term], extents: Sequence[Extent]) -> list[Point]:
    """The variables of a block with their lengths."""
    return [Point(term, extent) for term, extent in zip(terms, extents, strict=True)]


def can_read(tensor: DraftTensor, at: Sequence[Extent]) -> bool:
    """Whether every dim of the tensor has elements wherever the axes `at` have."""
    lengths = {extent.text for extent in at}
    return all(dim.text in lengths or (dim.static and dim.value > 0) for dim in tensor.dims)


def read(draft: FunctionDraft, tensor: DraftTensor, at: Sequence[Point], *, straight: float | None = None) -> Term:
    """An element of the tensor at a point; `straight` is how often every index is an axis variable where it can be.

    Raises Unfit where a dim may be empty and no axis has its length.
    """
    plain = draft.source.flip(draft.knobs.reads.straight if straight is None else straight)
    used: set[int] = set()
    indices: list[Expr] = []
    guards: list[Expr] = []
    for dim in tensor.dims:
        same = [i for i, point in enumerate(at) if point.extent.text == dim.text]
        same = [i for i in same if i not in used] or same
        if same and (plain or draft.source.flip()):
            used.add(same[0])
            indices.append(at[same[0]].term.expr)
        else:
            indices.append(_bent(draft, dim, at, same, guards))
    element = load(tensor, indices)
    if not guards:
        return element
    guard = guards[0]
    for other in guards[1:]:
        guard = tirx.And(guard, other)
    draft.features.add("guarded_read")
    outside = (
        constant(0, tensor.dtype) if tensor.dtype != "bool" else Term(tirx.IntImm("bool", 0), "bool", element.range)
    )
    return chosen(guard, element, outside, lazily=True)


def _bent(draft: FunctionDraft, dim: Extent, at: Sequence[Point], same: list[int], guards: list[Expr]) -> Expr:
    """An index that is no axis variable itself; the conditions for it to be in bounds are added to `guards`."""
    source = draft.source
    knobs = draft.knobs.reads
    options = [("guarded", knobs.guarded)] if at and Unusual.LAZY in draft.unusual else []
    if same:
        options += [("reversed", knobs.reversed)]
    if dim.static and dim.value > 0:
        options += [("wrapped", knobs.wrapped), ("clamped", knobs.clamped), ("constant", knobs.constant)]
        options += [("gathered", knobs.gathered)] if _positions(draft, at) else []
    if not options:
        raise Unfit("a dim that may be empty")
    kind = weighted(source, options)
    draft.features.add(f"index_{kind}")
    match kind:
        case "reversed":
            return tirx.Sub(tirx.Sub(dim.expr, draft.number(1)), at[source.pick(same)].term.expr)
        case "constant":
            return draft.number(source.integer(0, dim.value - 1))
        case "guarded":
            return _guarded(draft, dim, at, guards)
        case "gathered":
            return index_within(draft, dim, _position(draft, at), clamp=True)
        case _:
            return index_within(draft, dim, _arithmetic(draft, at), clamp=kind == "clamped")


def _arithmetic(draft: FunctionDraft, at: Sequence[Point]) -> Term:
    """Integer arithmetic on the axis variables."""
    operands = Operands(draft, [], [point.term for point in at], lets=False)
    return draw_value(operands, draft.index_dtype, 2)


def index_within(draft: FunctionDraft, dim: Extent, term: Term, *, clamp: bool) -> Expr:
    """The index brought into the bounds of a dim that is a number."""
    if term.range.within(0, dim.value - 1) and draft.source.flip(draft.knobs.reads.left_in_bounds):
        return term.expr
    if clamp:
        inner = tirx.Max(term.expr, draft.number(0))
        return tirx.Min(inner, draft.number(dim.value - 1))
    wrapped = apply(BY_NAME["floormod"], term, constant(dim.value, draft.index_dtype))
    assert wrapped is not None
    return wrapped.expr


def _guarded(draft: FunctionDraft, dim: Extent, at: Sequence[Point], guards: list[Expr]) -> Expr:
    """A neighbour, under a test that there is one."""
    point = draft.source.pick(at)
    offset = draft.source.pick((-1, 1, 2, -2, 0))
    scale = favour(draft.source, 1, 2)
    index = point.term.expr if scale == 1 else tirx.Mul(point.term.expr, draft.number(scale))
    index = tirx.Add(index, draft.number(offset)) if offset else index
    if point.term.range.low * scale + offset < 0:
        guards.append(tirx.LE(draft.number(0), index))
    guards.append(tirx.LT(index, dim.expr))
    return index


def _positions(draft: FunctionDraft, at: Sequence[Point]) -> list[DraftTensor]:
    """Integer tensors whose elements can be indices."""
    lengths = {point.extent.text for point in at}
    return [
        t
        for t in draft.tensors
        if t.dtype in ("int32", "int64") and t.role == "input" and all(d.text in lengths for d in t.dims)
    ]


def _position(draft: FunctionDraft, at: Sequence[Point]) -> Term:
    tensor = draft.source.pick(_positions(draft, at))
    by_length = {point.extent.text: point.term.expr for point in at}
    element = load(tensor, [by_length[d.text] for d in tensor.dims])
    if tensor.dtype == draft.index_dtype:
        return element
    return Term(tirx.Cast(draft.index_dtype, element.expr), draft.index_dtype, element.range)


def scaled_range(values: Range, count: int) -> Range:
    """The range of a sum of up to `count` of them, none included."""
    return values.summed(count).including(0)
