"""Branches in branches, with and without other sides, and statements around the inner one; and conditions that are
asked again where a store may have changed the answer.

Whoever merges two conditions, moves a condition out of a loop, or takes it for known has to ask about these.
"""

from __future__ import annotations

from dataclasses import replace

from tvm import tirx

from generators.ranges import Range
from generators.source import favour
from generators.tir.conditions import draw_test
from generators.tir.function_draft import DraftTensor
from generators.tir.reads import Point
from generators.tir.recipes.dependences import any_length, filled, inside, value_of
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.surroundings import counted, element, loop
from generators.tir.site import Site, sequence, store
from generators.tir.terms import COMPARISONS, constant
from generators.tvm_api import Expr, Stmt


def draw_inner_branches(site: Site) -> Stmt:
    """Branches in a branch, in a loop over tensors that they store to."""
    draft, length = site.draft, any_length(site)
    tensors = [filled(site, length) for _ in range(2)]
    var, point = counted(draft, length)
    deeper = draft.source.flip(KNOBS.remains.deeper)
    draft.features.add("inner_branches")
    return loop(draft, var, length, _branch(inside(site, point), tensors, point, 2 if deeper else 1, None))


def _branch(site: Site, tensors: list[DraftTensor], point: Point, depth: int, around: Expr | None) -> Stmt:
    """A branch with so many branches in it, each in the one before. around: the condition of the one that it is in."""
    source, knobs = site.draft.source, KNOBS.remains
    same = around is not None and source.flip(knobs.same_condition)
    condition = around if around is not None and same else _test(site, tensors, point)
    within = site.inside(in_loop=site.in_loop)
    parts = [_changed(within, tensors, point)] if source.flip(knobs.before) or not depth else []
    if depth:
        parts.append(_branch(within, tensors, point, depth - 1, condition))
        parts += [_changed(within, tensors, point)] if source.flip(knobs.after) else []
    other = None
    if source.flip(knobs.two_sides):
        elsewhere = site.inside(in_loop=site.in_loop)
        inner = depth > 0 and source.flip(knobs.deeper)
        other = _branch(elsewhere, tensors, point, 0, condition) if inner else _changed(elsewhere, tensors, point)
    return tirx.IfThenElse(condition, sequence(*parts), other)


def _test(site: Site, tensors: list[DraftTensor], point: Point) -> Expr:
    """A condition of the loop variable, of any data, or of an element that the branches store to."""
    source = site.draft.source
    if source.flip():
        return draw_test(site)
    tensor = source.pick(tensors)
    low = 0 if tensor.dtype.startswith("u") else -3
    limit = constant(source.integer(low, 6), tensor.dtype)
    return source.pick(COMPARISONS)(element(tensor, point.term.expr).expr, limit.expr)


def _changed(site: Site, tensors: list[DraftTensor], point: Point) -> Stmt:
    tensor, at = site.draft.source.pick(tensors), point.term.expr
    old = (element(tensor, at),) if site.draft.source.flip() else ()
    return store(tensor, value_of(site, tensor.dtype, point.term, *old), [at])


def draw_asked_again(site: Site) -> Stmt:
    """A condition that a loop asks in each turn, and whose answer some turn changes."""
    return favour(site.draft.source, _until_counted, _of_fixed_element)(site)


def _until_counted(site: Site) -> Stmt:
    """A branch counts how often it was taken, and is taken so often, in a loop of more turns, or of fewer."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    counts, other = filled(site, length), filled(site, length)
    fixed = draft.number(source.integer(0, int(length.value) - 1))
    first, times = source.integer(0, 3), source.integer(1, int(length.value))
    now = element(counts, fixed)
    test = source.pick((tirx.LT, tirx.NE))(now.expr, constant(first + times, now.dtype).expr)
    more = replace(now, expr=tirx.Add(now.expr, constant(1, now.dtype).expr), range=now.range + Range(1, 1, True))
    var, point = counted(draft, length)
    within = inside(site, point)
    parts = [store(counts, more, [fixed]), store(other, value_of(within, other.dtype, point.term), [var])]
    otherwise = store(other, value_of(within, other.dtype, now), [var])
    turn = tirx.IfThenElse(
        test,
        sequence(*(parts if source.flip() else parts[::-1])),
        otherwise if source.flip(KNOBS.remains.two_sides) else None,
    )
    return sequence(store(counts, constant(first, now.dtype), [fixed]), loop(draft, var, length, turn))


def _of_fixed_element(site: Site) -> Stmt:
    """A condition on an element that does not move with the loop, which some turn stores to; or one that is asked
    before such a loop, or after it, as well."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    asked, other = filled(site, length), filled(site, length)
    fixed = draft.number(source.integer(0, int(length.value) - 1))
    low = 0 if asked.dtype.startswith("u") else -2
    limit = constant(source.integer(low, 6), asked.dtype)
    test = source.pick(COMPARISONS)(element(asked, fixed).expr, limit.expr)
    var, point = counted(draft, length)
    within = inside(site, point)
    one = store(asked, value_of(within, asked.dtype, point.term), [var])
    two = store(other, value_of(within, other.dtype, point.term, element(asked, var)), [var])
    branch = tirx.IfThenElse(test, favour(source, one, two), two if source.flip(KNOBS.remains.two_sides) else None)
    turn = favour(source, branch, sequence(branch, one), sequence(one, branch))
    body = loop(draft, var, length, turn)
    last = store(other, value_of(site, other.dtype, element(asked, fixed)), [fixed])
    again = tirx.IfThenElse(test, last, None)
    return favour(source, body, sequence(body, again), sequence(again, body))
