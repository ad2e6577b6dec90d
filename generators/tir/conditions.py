"""The conditions of branches and guards: of loop variables, of data, and again the one that was asked before."""

from __future__ import annotations

from dataclasses import replace

from tvm import tirx

from generators.tir.expressions import draw_condition
from generators.tir.reads import Point
from generators.tir.site import Site
from generators.tir.terms import COMPARISONS, constant
from generators.tvm_api import Expr

_MOST_JOINED = 3
"""Conditions that may be joined to one: mixtures of "and" and "or" begin with three terms."""


def draw_test(site: Site) -> Expr:
    """A bool expression, which may stand in several statements: it binds nothing."""
    source = site.draft.source
    if site.conditions and source.flip(site.draft.knobs.branches.condition_again):
        return source.pick(site.conditions)
    condition = _asked(site, 2)
    for _ in range(_MOST_JOINED):
        if not source.flip(site.draft.knobs.branches.condition_joined):
            break
        site.draft.features.add("logic")
        other = _asked(site, 1)
        site.conditions += [condition, other]  # which are asked again where only the whole is known
        condition = source.pick((tirx.And, tirx.Or))(condition, other)
    site.conditions.append(condition)
    return condition


def _asked(site: Site, depth: int) -> Expr:
    """A condition of a loop variable or of data."""
    counted = [p for p in site.points if isinstance(p.term.expr, tirx.Var) and p.term.range.low < p.term.range.high]
    return (
        _of_loop(site, counted)
        if counted and site.draft.source.flip(site.draft.knobs.branches.condition_of_loop)
        else _of_data(site, depth)
    )


def _of_data(site: Site, depth: int) -> Expr:
    operands = site.operands([t for t in site.tensors if not t.special], 1)
    return draw_condition(replace(operands, lets=False), depth).expr


def _of_loop(site: Site, counted: list[Point]) -> Expr:
    """A loop variable against a number that it may be."""
    source = site.draft.source
    term = (
        counted[-1].term if source.flip(site.draft.knobs.branches.condition_of_innermost) else source.pick(counted).term
    )
    bound = constant(source.integer(int(term.range.low), int(term.range.high)), term.dtype)
    return source.pick(COMPARISONS)(term.expr, bound.expr)
