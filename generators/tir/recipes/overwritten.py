"""Elements that are needed when their place holds something else by then: a value that is kept by a name while a loop
or a branch goes over what it was read from, a sequence that looks some elements back, and an element that each turn of
a loop overwrites, where there may be no turn.

Whoever loads a value again, keeps fewer elements of a buffer, or runs the last turn alone has to ask about these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvm import tirx

from generators.ranges import Range
from generators.tir.cell import as_index
from generators.tir.conditions import draw_test
from generators.tir.recipes.dependences import any_length, filled, inside, value_of
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import counted, element, loop, moved, new_unfilled, with_some
from generators.tir.site import Site, sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt


def _kept(site: Site) -> Stmt:
    """A name for an element, then a loop or a branch that overwrites it, in which the name is used or after which, as a
    pivot is in an elimination."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    tensor = filled(site, length, role=source.pick(("alloc", "output")))
    fixed = draft.number(source.integer(0, int(length.value) - 1))
    name = tirx.Var(draft.new_name("x"), tensor.dtype)
    kept = replace(element(tensor, fixed), expr=name)
    if source.flip(KNOBS.overwritten.in_loop):
        var, point = counted(draft, length)
        value = value_of(inside(site, point), tensor.dtype, kept, element(tensor, var))
        change = loop(draft, var, length, store(tensor, value, [var]))
    else:
        value = value_of(site, tensor.dtype, *((kept,) if source.flip() else ()), element(tensor, fixed))
        change = tirx.IfThenElse(draw_test(site), store(tensor, value, [fixed]), None)
    shown = filled(site, length)
    after = store(shown, value_of(site, shown.dtype, kept), [fixed])
    return sequence(tirx.Bind(name, element(tensor, fixed).expr), change, after)


def _recurrence(site: Site) -> Stmt:
    """Each element is made of one some places back, in some cases of the one before it as well; one as far back is
    shown before or after it is stored."""
    draft, source, steps = site.draft, site.draft.source, any_length(site)
    back = source.integer(*KNOBS.overwritten.back)
    length = draft.extent(int(steps.value) + back)
    tensor = new_unfilled(site, (length,), role=source.pick(("alloc", "output")))
    shown = filled(site, length)
    first = [store(tensor, value_of(site, tensor.dtype, _number(site, n)), [draft.number(n)]) for n in range(back)]
    var, point = counted(draft, steps, back)
    within = inside(site, point)
    old = [element(tensor, moved(draft, var, -n)) for n in ((back, 1) if source.flip() else (back,))]
    made = store(tensor, value_of(within, tensor.dtype, point.term, *old), [var])
    seen = store(shown, value_of(within, shown.dtype, old[0]), [var])
    turn = (made, seen) if source.flip(KNOBS.overwritten.read_last) else (seen, made)
    if tensor.role == "alloc":
        draft.tensors.remove(tensor)
    return sequence(*first, loop(draft, var, steps, sequence(*turn), start=back))


def _number(site: Site, number: int) -> Term:
    draft = site.draft
    return Term(draft.number(number), draft.index_dtype, Range(number, number, True))


def _last_turn(site: Site) -> Stmt:
    """A loop that overwrites one element in each turn; there are as many turns as a loop around it says, or as data
    does, down to none."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    tensor, last = filled(site, length), int(length.value) - 1
    (var, outer), (name, inner) = counted(draft, length), counted(draft, length)
    counts = draft.add_tensor("A", (length,), "int32", Range(0, last, True), role="input")
    told = as_index(draft, element(counts, var).expr)
    turns: Expr = source.pick((var, tirx.Sub(draft.number(last), var), told))
    if turns is not told:
        draft.tensors.remove(counts)
    within = site.inside(outer, inner, turns=(last + 1) ** 2)
    body = store(tensor, value_of(within, tensor.dtype, inner.term), [var])
    return loop(draft, var, length, tirx.For(name, draft.number(0), turns, tirx.ForKind.SERIAL, body))


_KINDS: dict[str, Callable[[Site], Stmt]] = {
    "kept_values": _kept,
    "recurrences": _recurrence,
    "last_turns": _last_turn,
}


RECIPES = tuple(PrimRecipe(name, with_some(kind), host=True) for name, kind in _KINDS.items())
