"""Variables that take every value of a small range: a loop variable, or an expression of loop variables.

The expressions over them are in `integers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.source import weighted
from generators.tir.function_draft import Extent, FunctionDraft
from generators.tir.site import sequence
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt, Var

Wrap = Callable[[Stmt], Stmt]


@dataclass(frozen=True, slots=True)
class IntegerAxis:
    """A variable that takes every value of its range. index: the number of the value, from 0; around: puts the loop, or
    the binding of the variable, around a statement; guard: the condition for the index to be below the extent."""

    term: Term
    extent: Extent
    index: Term
    around: Wrap
    guard: Expr | None = None


def draw_axes(draft: FunctionDraft, earlier: list[tuple[int, int]], room: int) -> list[IntegerAxis]:
    """One variable in most cases, two where one loop is split into them."""
    source = draft.source
    if draft.symbols and source.flip(draft.knobs.integers.axes.symbolic_axis) and room >= 16:
        return [counter(draft, draft.symbolic("n"), 0)]
    begin, count = source.pick(draft.knobs.integers.axes.begins), weighted(source, draft.knobs.integers.axes.extents)
    if earlier and source.flip():
        begin, count = source.pick(earlier)
    count = min(count, room)
    earlier.append((begin, count))
    if count > 1 and source.flip(draft.knobs.integers.axes.fused):
        return fused(draft, count, min(weighted(source, draft.knobs.integers.axes.extents), room // count), begin)
    return [weighted(source, _KINDS)(draft, draft.extent(count), begin)]


def _variable(draft: FunctionDraft, low: int, count: int) -> Term:
    return Term(tirx.Var(draft.new_name("i"), draft.index_dtype), draft.index_dtype, _values(low, count))


def _values(low: int, count: int, step: int = 1) -> Range:
    return Range(low, low + max(count - 1, 0) * step, True)


def _loop(draft: FunctionDraft, var: Var, low: int, count: Expr, step: int = 1) -> Wrap:
    """Puts a loop around a statement; short loops may be unrolled."""
    kind = tirx.ForKind.SERIAL
    if (
        step == 1
        and isinstance(count, tirx.IntImm)
        and int(count.value) <= 6
        and draft.source.flip(draft.knobs.integers.axes.unrolled)
    ):
        kind = tirx.ForKind.UNROLLED
        draft.features.add("unrolled")
    by = draft.number(step) if step != 1 else None
    return lambda body: tirx.For(var, draft.number(low), count, kind, body, None, None, by)


def counter(draft: FunctionDraft, extent: Extent, begin: int) -> IntegerAxis:
    """The loop variable itself, which begins anywhere."""
    var = _variable(draft, begin, extent.high)
    index = var.expr if begin == 0 else tirx.Sub(var.expr, draft.number(begin))
    if begin:
        draft.features.add("shifted_loop")
    return IntegerAxis(
        var,
        extent,
        Term(index, draft.index_dtype, _values(0, extent.high)),
        _loop(draft, var.expr, begin, extent.expr),
    )


def offset(draft: FunctionDraft, extent: Extent, begin: int) -> IntegerAxis:
    """A loop from 0, and a variable that is so much more: by name, or wherever it is used."""
    var = _variable(draft, 0, extent.value)
    loop = _loop(draft, var.expr, 0, extent.expr)
    expr, values = tirx.Add(var.expr, draft.number(begin)), _values(begin, extent.value)
    draft.features.add("offset")
    if draft.source.flip():
        return IntegerAxis(Term(expr, draft.index_dtype, values), extent, var, loop)
    name = tirx.Var(draft.new_name("x"), draft.index_dtype)
    draft.features.add("bind")
    return IntegerAxis(
        Term(name, draft.index_dtype, values), extent, var, lambda body: loop(sequence(tirx.Bind(name, expr), body))
    )


def stepped(draft: FunctionDraft, extent: Extent, begin: int) -> IntegerAxis:
    """A loop with a step."""
    step = draft.source.pick((2, 3, 4))
    var = Term(tirx.Var(draft.new_name("i"), draft.index_dtype), draft.index_dtype, _values(begin, extent.value, step))
    index = tirx.FloorDiv(tirx.Sub(var.expr, draft.number(begin)), draft.number(step))
    draft.features.add("loop_step")
    return IntegerAxis(
        var,
        extent,
        Term(index, draft.index_dtype, _values(0, extent.value)),
        _loop(draft, var.expr, begin, draft.length(extent.value, step), step),
    )


def split(draft: FunctionDraft, extent: Extent, begin: int) -> IntegerAxis:
    """A variable made of two loops, with a guard where they go beyond its extent."""
    factor = draft.source.pick((2, 3, 4, 8))
    blocks = -(-extent.value // factor)
    outer, inner = _variable(draft, 0, blocks), _variable(draft, 0, factor)
    index = tirx.Add(tirx.Mul(outer.expr, draft.number(factor)), inner.expr)
    expr = tirx.Add(index, draft.number(begin)) if begin else index
    loops = _loop(draft, outer.expr, 0, draft.number(blocks)), _loop(draft, inner.expr, 0, draft.number(factor))
    guard = None
    if blocks * factor != extent.value:
        guard = tirx.LT(index, extent.expr)
        if draft.source.flip():
            guard = tirx.likely(guard)
            draft.features.add("likely")
        draft.features.add("guarded_split")
    draft.features.add("split")
    term = Term(expr, draft.index_dtype, _values(begin, extent.value))
    position = Term(index, draft.index_dtype, _values(0, extent.value))
    return IntegerAxis(term, extent, position, lambda body: loops[0](loops[1](body)), guard)


def fused(draft: FunctionDraft, first: int, second: int, begin: int) -> list[IntegerAxis]:
    """Two variables made of one loop."""
    var = _variable(draft, 0, first * second)
    loop = _loop(draft, var.expr, 0, draft.number(first * second))
    axes = []
    for node, count, around in ((tirx.FloorDiv, first, loop), (tirx.FloorMod, second, _nothing_around)):
        index = node(var.expr, draft.number(second))
        expr = tirx.Add(index, draft.number(begin)) if begin else index
        term = Term(expr, draft.index_dtype, _values(begin, count))
        axes.append(IntegerAxis(term, draft.extent(count), Term(index, draft.index_dtype, _values(0, count)), around))
    draft.features.add("fused")
    return axes


def _nothing_around(body: Stmt) -> Stmt:
    return body


_KINDS = ((counter, 6), (offset, 4), (stepped, 1), (split, 2))
"""(kind, weight) of a variable: the simplest most often."""
