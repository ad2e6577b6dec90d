"""The conditions of branches and guards: of loop variables, of data, and again the one that was asked before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvm import tirx

from generators.tir.expressions import draw_condition
from generators.tir.place import Place
from generators.tir.reads import Point
from generators.tir.terms import COMPARISONS, constant

_SAME = 0.35
"""A condition is one that was drawn here before this often: real code asks the same question again."""
_OF_LOOP = 0.5
"""A condition in a loop is one of a loop variable this often, as guards at the borders are."""
_INNERMOST = 0.5
"""It is the variable of the loop right around the condition at least this often."""
_JOINED = 0.4
"""A condition is joined with another this often."""


def draw_test(place: Place) -> Any:
    """A bool expression, which may stand in several statements: it binds nothing."""
    source = place.draft.source
    if place.conditions and source.flip(_SAME):
        return source.pick(place.conditions)
    condition = _asked(place, 2)
    if source.flip(_JOINED):
        place.draft.features.add("logic")
        other = _asked(place, 1)
        place.conditions += [condition, other]  # which are asked again where only the whole is known
        condition = source.pick((tirx.And, tirx.Or))(condition, other)
    place.conditions.append(condition)
    return condition


def _asked(place: Place, depth: int) -> Any:
    """A condition of a loop variable or of data."""
    counted = [p for p in place.points if isinstance(p.term.expr, tirx.Var) and p.term.range.low < p.term.range.high]
    return _of_loop(place, counted) if counted and place.draft.source.flip(_OF_LOOP) else _of_data(place, depth)


def _of_data(place: Place, depth: int) -> Any:
    site = place.site([t for t in place.tensors if not t.special], 1)
    return draw_condition(replace(site, lets=False), depth).expr


def _of_loop(place: Place, counted: list[Point]) -> Any:
    """A loop variable against a number that it may be."""
    source = place.draft.source
    term = counted[-1].term if source.flip(_INNERMOST) else source.pick(counted).term
    bound = constant(source.integer(int(term.range.low), int(term.range.high)), term.dtype)
    return source.pick(COMPARISONS)(term.expr, bound.expr)
