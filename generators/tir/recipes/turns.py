"""Loops whose turns are not what their header says at first sight, and stores that are not seen where they are looked
for: loops that a turn leaves or skips, that count by a buffer, that have no turn at all, whose indices come from far
numbers, loops of several stores, memory with a second name, and conditions that are known in one place alone.

Whoever unrolls, splits or peels a loop, takes it apart, forwards a store or uses a fact has to ask about these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvm import tirx

from generators.ranges import Range
from generators.source import Source, favour
from generators.tir.cell import Cell, as_index, int32, new_cell
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.dependences import any_length, filled, inside, value_of
from generators.tir.recipes.plain_knobs import KNOBS, with_symbols
from generators.tir.recipes.pointers import view_of
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import among, counted, element, loop, moved, with_some
from generators.tir.site import Site, sequence, store
from generators.tir.terms import Term, chosen, constant, held
from generators.tvm_api import Expr, Stmt


def draw_turns(source: Source) -> PrimProgram:
    """A few of these statements."""
    return among(source, _some, with_symbols(KNOBS.turns.symbolic))


def _some(site: Site) -> Stmt:
    source = site.draft.source
    site.draft.features.add("turns")
    return sequence(*(_one(site) for _ in range(source.integer(*KNOBS.turns.count))))


def _one(site: Site) -> Stmt:
    try:
        return site.draft.source.pick(tuple(_KINDS.values()))(site)
    except Unfit:  # no number among the parameters
        return _jumping(site)


def _of_kind(name: str) -> Callable[[Source], PrimProgram]:
    """Draws a function with one or two of the statements of a kind."""
    knobs = with_symbols(KNOBS.turns.symbolic)
    if _KINDS[name] is _known_in_one_place:
        knobs = with_symbols(1.0)
        knobs = replace(knobs, inputs=replace(knobs.inputs, symbol_parameter=1.0))
    return with_some(_KINDS[name], knobs)


def _some_turns(draft: FunctionDraft, var: Expr, length: Extent) -> Expr:
    """Holds in some turns of a loop."""
    turn = draft.number(draft.source.integer(0, max(int(length.value) - 1, 0)))
    parity = tirx.FloorMod(var, draft.number(2))
    return draft.source.pick(
        (tirx.EQ(parity, draft.number(1)), tirx.EQ(parity, draft.number(0)), tirx.EQ(var, turn), tirx.LT(var, turn))
    )


# --- which turns there are -------------------------------------------------------------------------------


def _jumping(site: Site) -> Stmt:
    """A loop of which some turns end early, or end the loop."""
    draft, length = site.draft, any_length(site)
    tensor = filled(site, length)
    var, point = counted(draft, length)
    within = inside(site, point)
    jump = tirx.Evaluate(favour(draft.source, tirx.continue_loop, tirx.break_loop)())
    ends = tirx.IfThenElse(_some_turns(draft, var, length), jump, None)
    change = store(tensor, value_of(within, tensor.dtype, point.term, element(tensor, var)), [var])
    before = [_beside(site, within, length, point)] if draft.source.flip(KNOBS.turns.beside) else []
    draft.features.add("jump")
    return loop(draft, var, length, sequence(*before, ends, change))


def _beside(site: Site, within: Site, length: Extent, point: Point) -> Stmt:
    """A store to another tensor in the same loop."""
    other = filled(site, length)
    return store(other, value_of(within, other.dtype, point.term), [point.term.expr])


def _counting_up(site: Site) -> Stmt:
    """A while whose counter goes up, in some turns by two steps."""
    draft, length = site.draft, any_length(site)
    tensor, last = filled(site, length), int(length.value) - 1
    done = new_cell(draft, last + 2)
    step = done.plus(1)
    at = as_index(draft, tirx.Min(done.now.expr, int32(last)))
    turn = Term(at, draft.index_dtype, Range(0, last, True))
    within = site.inside(Point(turn, length), turns=last + 2, in_loop=False)
    change = store(tensor, value_of(within, tensor.dtype, turn, element(tensor, at)), [at])
    if draft.source.flip(KNOBS.turns.second_step):
        again = tirx.IfThenElse(_some_turns(draft, at, length), step, None)
        change = sequence(*draft.source.pick(((change, again), (again, change))))
    draft.features.add("while")
    counting = tirx.While(tirx.LT(done.now.expr, int32(last + 1)), sequence(change, step))
    return done.around(0, counting, *_counted_to(site, done))


def _counted_to(site: Site, cell: Cell) -> list[Stmt]:
    """In most cases, a store of where the counter has come to."""
    if not site.draft.source.flip(KNOBS.turns.counter_shown):
        return []
    shown = filled(site, site.draft.extent(1))
    return [store(shown, value_of(site, shown.dtype, cell.now), [site.draft.number(0)])]


def _first_turn(site: Site) -> Stmt:
    """A loop in a loop whose first turn does something else, where there is one."""
    draft, length = site.draft, any_length(site)
    tensor, last = filled(site, length), int(length.value) - 1
    (var, outer), (name, inner) = counted(draft, length), counted(draft, length)
    turns = draft.source.pick((var, tirx.Sub(draft.number(last), var), draft.number(last)))
    within = site.inside(outer, inner, turns=(last + 1) ** 2)
    first, others = (
        store(tensor, value_of(within, tensor.dtype, element(tensor, var), point.term), [var])
        for point in (outer, inner)
    )
    test = tirx.EQ(name, draft.number(0))
    body = tirx.IfThenElse(test, first, others if draft.source.flip() else None)
    return loop(draft, var, length, tirx.For(name, draft.number(0), turns, tirx.ForKind.SERIAL, body))


def _far_numbers(site: Site) -> Stmt:
    """An index, or a value, by way of a number that 16 bits do not hold: a remainder, or a quotient, of the turn times
    so much."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    tensor, shown = filled(site, length), filled(site, length)
    var, point = counted(draft, length)
    factor, last = source.integer(*KNOBS.turns.far), int(length.value) - 1
    far = moved(draft, tirx.Mul(var, draft.number(factor)), source.integer(0, factor - 1))
    near = source.pick((tirx.FloorMod(far, length.expr), tirx.FloorDiv(far, draft.number(factor))))
    turn = Term(near, draft.index_dtype, Range(0, last, True))
    leaf = turn if source.flip() else element(tensor, near)
    within = inside(site, point)
    return loop(draft, var, length, store(shown, value_of(within, shown.dtype, point.term, leaf), [var]))


# --- what a turn reads and writes ------------------------------------------------------------------------


def _several_stores(site: Site) -> Stmt:
    """A loop of two stores, of which one reads what the other one writes in this turn, an earlier or a later one."""
    draft, steps = site.draft, any_length(site)
    by = draft.source.integer(1, 2)
    length = draft.extent(int(steps.value) + by)
    first, second = filled(site, length), filled(site, length)
    var, point = counted(draft, steps)
    within = inside(site, point)
    to, of = draft.source.pick(((0, by), (by, 0), (0, 0)))
    one = store(first, value_of(within, first.dtype, point.term), [moved(draft, var, to)])
    two = store(second, value_of(within, second.dtype, element(first, moved(draft, var, of))), [var])
    return loop(draft, var, steps, sequence(*draft.source.pick(((one, two), (two, one)))))


def _through_view(site: Site) -> Stmt:
    """An element is stored, stored again by another name of its memory, and read."""
    draft, length = site.draft, any_length(site)
    tensor, shown = filled(site, length, role=draft.source.pick(("alloc", "output"))), filled(site, length)
    begin = draft.source.integer(0, int(length.value) - 1)
    place = tensor.buffer.access_ptr("rw", ptr_type=tensor.dtype, offset=draft.number(begin))
    dim = draft.extent(int(length.value) - begin)
    view, declared = view_of(site, tensor, place, dim)
    at = draft.number(draft.source.integer(begin, int(length.value) - 1))
    stores = [
        _number(draft, tensor, at),
        _number(draft, view, tirx.Sub(at, draft.number(begin)) if draft.source.flip() else draft.number(0)),
    ]
    return sequence(
        declared,
        *(stores if draft.source.flip(KNOBS.turns.view_last) else stores[::-1]),
        store(shown, value_of(site, shown.dtype, element(tensor, at)), [at]),
    )


def _number(draft: FunctionDraft, tensor: DraftTensor, at: Expr) -> Stmt:
    number = constant(draft.source.integer(0, 9), tensor.dtype)
    return store(tensor, held(number, tensor.range, tensor.fraction), [at])


def _known_in_one_place(site: Site) -> Stmt:
    """A condition on a number that is assumed where it holds, and asked again where it may not."""
    draft, source = site.draft, site.draft.source
    numbers = [symbol for symbol in draft.symbols.values() if symbol.parameter]
    if not numbers:
        raise Unfit("no number among the parameters")
    number = source.pick(numbers).var
    limit = tirx.IntImm("int64", source.integer(0, KNOBS.turns.limit))
    condition = source.pick((tirx.GT, tirx.LE, tirx.EQ))(number, limit)
    length = any_length(site)
    first, second = filled(site, length), filled(site, length)
    at = draft.number(source.integer(0, int(length.value) - 1))
    stated = tirx.Evaluate(tirx.assume(condition))
    known = sequence(stated, store(first, value_of(site, first.dtype, element(second, at)), [at]))
    var, point = counted(draft, length)
    within = inside(site, point)
    one, two = (value_of(within, second.dtype, point.term, element(tensor, var)) for tensor in (first, second))
    asked: Stmt = (
        store(second, chosen(condition, one, two, lazily=source.flip()), [var])
        if source.flip()
        else tirx.IfThenElse(condition, store(second, one, [var]), store(second, two, [var]))
    )
    draft.features.add("assumption")
    return sequence(tirx.IfThenElse(condition, known, None), loop(draft, var, length, asked))


_KINDS: dict[str, Callable[[Site], Stmt]] = {
    "jumps": _jumping,
    "counting_up": _counting_up,
    "first_turns": _first_turn,
    "far_numbers": _far_numbers,
    "several_stores": _several_stores,
    "second_names": _through_view,
    "facts_in_one_place": _known_in_one_place,
}

RECIPES = (
    PrimRecipe("turns", draw_turns, host=True),
    *(PrimRecipe(name, _of_kind(name), host=True) for name in _KINDS),
)
