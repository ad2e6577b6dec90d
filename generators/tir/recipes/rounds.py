"""States that go from one turn of a loop to the next: a value that is loaded for the next turn, two values that change
places, the last element that was seen, two rows that are read and written by turns, and a temporary tensor that is
copied back.

Whoever moves a load or a store over the end of a turn, merges or splits such loops, or takes a copy for what it was
copied from has to ask about these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvm import tirx

from generators.source import Source
from generators.tir.conditions import draw_test
from generators.tir.function_draft import DraftTensor
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.dependences import any_length, elsewhere, filled, inside, value_of
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.scaled_sums import draw_scaled_sum
from generators.tir.recipes.surroundings import among, counted, element, loop, moved, nested, new_unfilled, with_some
from generators.tir.site import Site, sequence, store
from generators.tir.terms import COMPARISONS, Term, constant
from generators.tvm_api import Expr, Stmt

_OF_A_PART = ("alloc", "output")
"""Where a tensor may lie that later statements need not read."""


def draw_rounds(source: Source) -> PrimProgram:
    """A few of these statements."""
    return among(source, _some)


def _some(site: Site) -> Stmt:
    source = site.draft.source
    site.draft.features.add("rounds")
    return sequence(*(source.pick(tuple(_KINDS.values()))(site) for _ in range(source.integer(*KNOBS.rounds.count))))


def _state(site: Site, dtype: str) -> DraftTensor:
    """A buffer of one element, which the recipe alone reads and writes."""
    return new_unfilled(site, (site.draft.extent(1),), dtype, role="alloc", scope="local")


def _in_any_order(source: Source, parts: list[Stmt]) -> Stmt:
    left, ordered = list(parts), list[Stmt]()
    while left:
        ordered.append(left.pop(source.integer(0, len(left) - 1)))
    return sequence(*ordered)


def _loaded_for_the_next(site: Site) -> Stmt:
    """Each turn uses what the one before it has loaded; in most cases the loop stores to what it loads from, before or
    after that."""
    draft, source, steps = site.draft, site.draft.source, any_length(site)
    last, zero = int(steps.value), draft.number(0)
    tensor, shown = filled(site, draft.extent(last + 1), role=source.pick(_OF_A_PART)), filled(site, steps)
    state = _state(site, tensor.dtype)
    var, point = counted(draft, steps)
    within, following, held = inside(site, point), moved(draft, var, 1), element(state, zero)
    fetched: Stmt = store(state, element(tensor, following), [zero])
    if source.flip(KNOBS.rounds.guarded):
        fetched = tirx.IfThenElse(tirx.LT(following, steps.expr), fetched, None)
    parts: list[Stmt] = [store(shown, value_of(within, shown.dtype, held), [var]), fetched]
    if source.flip(KNOBS.rounds.stored_meanwhile):
        value = value_of(within, tensor.dtype, held, point.term)
        parts.append(store(tensor, value, [source.pick((following, var))]))
    return sequence(store(state, element(tensor, zero), [zero]), loop(draft, var, steps, _in_any_order(source, parts)))


def _exchanged(site: Site) -> Stmt:
    """Two values of which each turn gives the first the second's, and the second one that is made of both."""
    draft, source, steps = site.draft, site.draft.source, any_length(site)
    zero, shown = draft.number(0), filled(site, steps)
    first, second = (_state(site, shown.dtype) for _ in range(2))
    begun = [store(state, value_of(site, state.dtype), [zero]) for state in (first, second)]
    var, point = counted(draft, steps)
    within = inside(site, point)
    name = tirx.Var(draft.new_name("x"), first.dtype)
    old = replace(element(first, zero), expr=name) if source.flip(KNOBS.rounds.by_name) else element(first, zero)
    kept = [tirx.Bind(name, element(first, zero).expr)] if old.expr.same_as(name) else []
    made = value_of(within, second.dtype, old, element(second, zero), point.term)
    turn = [store(first, element(second, zero), [zero]), store(second, made, [zero])]
    seen = store(shown, element(source.pick((first, second)), zero), [var])
    turn.insert(source.integer(0, 2), seen)
    return sequence(*begun, loop(draft, var, steps, sequence(*kept, *turn)))


def _last_seen(site: Site) -> Stmt:
    """Some turns change a value, which all use, before or after that. The condition may ask the value itself."""
    draft, source, steps = site.draft, site.draft.source, any_length(site)
    zero, given, shown = draft.number(0), filled(site, steps), filled(site, steps)
    state = _state(site, given.dtype)
    var, point = counted(draft, steps)
    within, held = inside(site, point), element(state, zero)
    test = _of_state(source, held) if source.flip(KNOBS.rounds.of_state) else draw_test(within)
    changed = store(state, value_of(within, state.dtype, element(given, var)), [zero])
    other = store(state, value_of(within, state.dtype, held, point.term), [zero]) if source.flip() else None
    seen = store(shown, value_of(within, shown.dtype, held), [var])
    parts: list[Stmt] = [tirx.IfThenElse(test, changed, other), seen]
    begun = store(state, value_of(site, state.dtype), [zero])
    return sequence(begun, loop(draft, var, steps, _in_any_order(source, parts)))


def _of_state(source: Source, held: Term) -> Expr:
    low = 0 if held.dtype.startswith("u") else -3
    return source.pick(COMPARISONS)(held.expr, constant(source.integer(low, 5), held.dtype).expr)


def _by_turns(site: Site) -> Stmt:
    """Two rows, of which each round reads one and writes the other; the last one, or a fixed one, is read after it."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    rounds, two = draft.extent(source.integer(*KNOBS.rounds.rounds) + 1), draft.number(2)
    rows = filled(site, draft.extent(2), length, role=source.pick(_OF_A_PART))
    shown = filled(site, length)
    (turn, outer), (var, inner), (at, _) = counted(draft, rounds), counted(draft, length), counted(draft, length)
    read, written = tirx.FloorMod(turn, two), tirx.FloorMod(moved(draft, turn, 1), two)
    beside = source.pick(elsewhere(draft, var, length, source.integer(1, max(int(length.value) - 1, 1))))
    within = site.inside(outer, inner, turns=int(rounds.value) * int(length.value))
    value = value_of(within, rows.dtype, element(rows, read, beside), element(rows, read, var))
    body = nested(draft, ((turn, outer), (var, inner)), store(rows, value, [written, var]))
    last = draft.number(source.pick((int(rounds.value) % 2, 0)))
    seen = store(shown, value_of(site, shown.dtype, element(rows, last, at)), [at])
    return sequence(body, loop(draft, at, length, seen))


def _copied_back(site: Site) -> Stmt:
    """A temporary tensor is computed from neighbours of each element, and copied back: a whole tensor, what was
    computed, or in the loop that computes it; some rounds of that."""
    draft, source, inner = site.draft, site.draft.source, any_length(site)
    length, rounds = draft.extent(int(inner.value) + 2), draft.extent(source.integer(*KNOBS.rounds.rounds))
    tensor = filled(site, length, role=source.pick(_OF_A_PART))
    other = filled(site, length, role=source.pick(_OF_A_PART), dtype=tensor.dtype)
    turn, around = counted(draft, rounds)
    var, point = counted(draft, inner, 1)
    several = int(rounds.value) > 1
    within = site.inside(*([around] if several else []), point, turns=int(rounds.value) * int(inner.value))
    first = source.flip(KNOBS.rounds.copied_first)
    to, of = (tensor, other) if first else (other, tensor)
    near = [element(of, moved(draft, var, by)) for by in (-1, 1, *((0,) if source.flip() else ()))]
    made = store(to, value_of(within, to.dtype, *near), [var])
    if source.flip(KNOBS.rounds.copied_at_once):
        at = moved(draft, var, -1) if source.flip(KNOBS.rounds.copied_late) else var
        copy = store(of, element(to, at), [at])
        body = loop(draft, var, inner, sequence(copy, made) if first else sequence(made, copy), start=1)
    else:
        copy = _copy(site, of, to, whole=source.flip(KNOBS.rounds.copied_whole))
        computed = loop(draft, var, inner, made, start=1)
        body = sequence(copy, computed) if first else sequence(computed, copy)
    return loop(draft, turn, rounds, body) if several else body


def _copy(site: Site, to: DraftTensor, of: DraftTensor, *, whole: bool) -> Stmt:
    """The elements of one tensor stored to another one of its dims: all, or all but the first and the last."""
    draft, length = site.draft, to.dims[0]
    extent, start = (length, 0) if whole else (draft.extent(int(length.value) - 2), 1)
    var, _ = counted(draft, extent, start)
    return loop(draft, var, extent, store(to, element(of, var), [var]), start=start)


_KINDS: dict[str, Callable[[Site], Stmt]] = {
    "loaded_for_the_next": _loaded_for_the_next,
    "exchanged_states": _exchanged,
    "last_seen": _last_seen,
    "rows_by_turns": _by_turns,
    "copied_back": _copied_back,
    "scaled_sums": draw_scaled_sum,
}

RECIPES = (
    PrimRecipe("rounds", draw_rounds, host=True),
    *(PrimRecipe(name, with_some(kind, most=KNOBS.rounds.of_one_kind), host=True) for name, kind in _KINDS.items()),
)
