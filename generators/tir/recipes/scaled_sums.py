"""Sums that change what they have before they add to it: scaled, turned round, held above zero, with another sign in
every other turn. The order of their terms matters, so that they cannot be split, reordered or taken for plain sums.

As plain loops, in which a plain sum may go over the same numbers. No block has such a sum: its axis of the reduction
would say that the order of the terms does not matter, and a right pass may change it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.source import Source
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.surroundings import counted, element, loop, nested
from generators.tir.site import Site, sequence
from generators.tir.terms import Term, constant, fits
from generators.tvm_api import Expr, Stmt

_DTYPES = ("float32", "int32", "int64", "float64")


@dataclass(frozen=True, slots=True)
class _Addition:
    """What a turn makes of the sum so far and a term, given the number of the turn; and the range of that."""

    node: Callable[[Expr, Expr, Expr], Expr]
    values: Callable[[Range, Range], Range]


def _plain() -> _Addition:
    return _Addition(lambda now, term, turn: tirx.Add(now, term), Range.__add__)


def _step(source: Source, dtype: str) -> _Addition:
    """One that depends on the order of the terms; rarely a plain sum."""
    if source.flip(KNOBS.scaled.plain):
        return _plain()
    factor = source.pick(KNOBS.scaled.factors)
    scale, zero, more = constant(factor, dtype).expr, constant(0, dtype).expr, _one(factor)
    return source.pick(
        (
            _Addition(lambda now, term, _: tirx.Add(tirx.Mul(now, scale), term), lambda a, b: a.scaled(factor) + b),
            _Addition(lambda now, term, _: tirx.Add(term, tirx.Mul(scale, now)), lambda a, b: a.scaled(factor) + b),
            _Addition(lambda now, term, _: tirx.Mul(tirx.Add(now, term), scale), lambda a, b: (a + b).scaled(factor)),
            _Addition(lambda now, term, _: tirx.Sub(term, now), lambda a, b: b - a),
            _Addition(lambda now, term, _: tirx.Max(tirx.Add(now, term), zero), lambda a, b: (a + b).maximum(_ZERO)),
            _Addition(lambda now, term, _: tirx.Min(tirx.Sub(now, term), zero), lambda a, b: (a - b).minimum(_ZERO)),
            _Addition(lambda now, term, _: tirx.Add(tirx.Max(now, term), scale), lambda a, b: a.maximum(b) + more),
            _Addition(_by_turns, lambda a, b: (a + b).hull(a - b)),
        )
    )


def _by_turns(now: Expr, term: Expr, turn: Expr) -> Expr:
    """Added in every other turn, else subtracted."""
    even = tirx.EQ(tirx.FloorMod(turn, tirx.const(2, turn.ty.dtype)), tirx.const(0, turn.ty.dtype))
    return tirx.Select(even, tirx.Add(now, term), tirx.Sub(now, term))


def _one(number: int) -> Range:
    return Range(number, number, True)


_ZERO = _one(0)


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of the last axis of a tensor: what each turn does, what it begins with, and the range of all that it is."""

    step: _Addition
    first: Term
    values: Range


def _sum(source: Source, step: _Addition, term: Range, dtype: str, turns: int) -> _Sum:
    """Raises Unfit where the dtype does not hold it."""
    first = constant(source.integer(1, 3) if source.flip(KNOBS.scaled.begun_elsewhere) else 0, dtype)
    values, now = first.range, first.range
    for _ in range(turns):
        now = step.values(now, term)
        values = values.hull(now)
        if not fits(values, dtype):
            raise Unfit("the sum does not fit")
    return _Sum(step, first, values)


def _terms(draft: FunctionDraft, dtype: str) -> DraftTensor:
    """An input of which the last axis is summed up."""
    rows, turns = (draft.source.integer(*bounds) for bounds in (KNOBS.scaled.rows, KNOBS.scaled.turns))
    return draft.add_tensor("A", (draft.extent(rows), draft.extent(turns)), dtype, KNOBS.scaled.term, role="input")


def _result(draft: FunctionDraft, rows: Extent, dtype: str, values: Range) -> DraftTensor:
    return draft.add_tensor("T", (rows,), dtype, values, role="output")


# --- as loops --------------------------------------------------------------------------------------------


def draw_scaled_sum(site: Site) -> Stmt:
    """Sums of the rows of a tensor, in some cases with plain sums of them in the same loop or in one beside it."""
    draft, source = site.draft, site.draft.source
    dtype = source.pick(_DTYPES)
    given = _terms(draft, dtype)
    turns = int(given.dims[1].value)
    sums = [_sum(source, _step(source, dtype), given.range, dtype, turns)]
    if source.flip(KNOBS.scaled.plain_beside):
        sums.insert(source.integer(0, 1), _sum(source, _plain(), given.range, dtype, turns))
    results = [_result(draft, given.dims[0], dtype, one.values) for one in sums]
    groups = [[*zip(sums, results, strict=True)]]
    if len(sums) > 1 and source.flip():
        groups = [[pair] for pair in groups[0]]
    statement = sequence(*(_summed(draft, given, group) for group in groups))
    site.tensors += [given, *results]
    draft.features.add("scaled_sum")
    return statement


def _summed(draft: FunctionDraft, given: DraftTensor, sums: list[tuple[_Sum, DraftTensor]]) -> Stmt:
    """The loops of some sums over the same numbers."""
    rows, turns = given.dims
    (row, at), (turn, _) = counted(draft, rows), counted(draft, turns)
    allocated, begun_with, added, stored = list[Stmt](), list[Stmt](), list[Stmt](), list[Stmt]()
    for one, result in sums:
        held, here = result, [row]
        if not draft.source.flip(KNOBS.scaled.in_place):
            values = one.values
            held = draft.add_tensor("acc", (draft.extent(1),), result.dtype, values, role="alloc", scope="local")
            draft.tensors.remove(held)
            here = [draft.number(0)]
            allocated.append(tirx.AllocBuffer(held.buffer))
            stored.append(tirx.BufferStore(result.buffer, load(held, here).expr, [row]))
        begun_with.append(tirx.BufferStore(held.buffer, one.first.expr, here))
        value = one.step.node(load(held, here).expr, element(given, row, turn).expr, turn)
        added.append(tirx.BufferStore(held.buffer, value, here))
    body = sequence(*begun_with, loop(draft, turn, turns, sequence(*added)), *stored)
    return sequence(*allocated, nested(draft, [(row, at)], body))
