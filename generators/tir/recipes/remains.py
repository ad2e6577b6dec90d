"""What remains of a value when a part of it is overwritten: tensors that a loop fills and a later one stores to in
part, copies of which one side is changed, and tensors that are updated in place between readers that are alike.

Whoever drops a store, takes a copy for what it was copied from, or computes a thing once that stands there twice has to
ask about these.
"""

from __future__ import annotations

from collections.abc import Callable

from tvm import tirx

from generators.ranges import Range
from generators.source import Source, favour
from generators.tir.conditions import draw_test
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.dependences import any_length, filled, inside, value_of
from generators.tir.recipes.inner_branches import draw_asked_again, draw_inner_branches
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import among, counted, element, loop, moved, nested, new_unfilled, with_some
from generators.tir.site import Site, sequence, store
from generators.tir.terms import BY_NAME, Term, apply, constant
from generators.tvm_api import Expr, Stmt, Var

_PLACES = ("alloc", "output")
"""Where a tensor may lie that the recipe shows itself."""


def draw_remains(source: Source) -> PrimProgram:
    """A few of these statements."""
    return among(source, _some)


def _some(site: Site) -> Stmt:
    source = site.draft.source
    site.draft.features.add("remains")
    return sequence(*(source.pick(tuple(_KINDS.values()))(site) for _ in range(source.integer(*KNOBS.remains.count))))


# --- stores to a part of what was filled -----------------------------------------------------------------


def _partly_covered(site: Site) -> Stmt:
    return favour(site.draft.source, _some_covered, _rows_covered)(site)


def _some_covered(site: Site) -> Stmt:
    """Each element is stored, then some are stored again: those of a part of the loop, every other one, one row, those
    for which a condition holds."""
    draft, source = site.draft, site.draft.source
    tensor = new_unfilled(site, (any_length(site),), role=source.pick(_PLACES))
    length = tensor.dims[0]
    (var, point), (again, other) = counted(draft, length), counted(draft, length)
    first = _first_value(inside(site, point), tensor, point)
    if source.flip(KNOBS.remains.filled_at_once):
        part = _where(inside(site, point), tensor, var, point)
        return sequence(loop(draft, var, length, sequence(store(tensor, first, [var]), part)), *_shown(site, tensor))
    fill = loop(draft, var, length, store(tensor, first, [var]))
    site.tensors.append(tensor)
    cover = favour(source, _for_some, _in_steps, _in_range)(site, tensor, again, other)
    site.tensors.remove(tensor)
    return sequence(fill, cover, *_shown(site, tensor))


def _rows_covered(site: Site) -> Stmt:
    """The same of two dims: one row or column is stored again, a diagonal, or a triangle."""
    draft, source = site.draft, site.draft.source
    rows, columns = (draft.extent(source.pick(KNOBS.dependences.lengths[:4])) for _ in range(2))
    tensor = new_unfilled(site, (rows, columns), role=source.pick(_PLACES))
    loops = [counted(draft, dim) for dim in tensor.dims]
    (row, outer), (column, inner) = loops
    fill = nested(draft, loops, store(tensor, _first_value(site.inside(outer, inner), tensor, outer), [row, column]))
    least = rows if int(rows.value) < int(columns.value) else columns
    along, point = counted(draft, source.pick((rows, columns, least)))
    fixed = [draft.number(source.integer(0, int(dim.value) - 1)) for dim in tensor.dims]
    within = inside(site, point)
    at = {rows.text: [along, fixed[1]], columns.text: [fixed[0], along]}.get(point.extent.text, fixed)
    if point.extent is least and source.flip():
        at = [along, along]
    cover = loop(draft, along, point.extent, store(tensor, value_of(within, tensor.dtype, point.term), at))
    return sequence(fill, cover, *_shown(site, tensor))


def _first_value(site: Site, tensor: DraftTensor, point: Point) -> Term:
    if site.draft.source.flip(KNOBS.remains.constant_fill):
        low = 0 if tensor.dtype.startswith("u") else -2
        return constant(site.draft.source.integer(low, 9), tensor.dtype)
    return value_of(site, tensor.dtype, point.term)


def _where(site: Site, tensor: DraftTensor, var: Var, point: Point) -> Stmt:
    """A store to the element where a condition holds, of the loop variable or of data; rarely everywhere."""
    again = store(tensor, value_of(site, tensor.dtype, point.term), [var])
    if site.draft.source.flip(KNOBS.remains.all_of_it):
        return again
    return tirx.IfThenElse(draw_test(site), again, None)


def _for_some(site: Site, tensor: DraftTensor, var: Var, point: Point) -> Stmt:
    return loop(site.draft, var, point.extent, _where(inside(site, point), tensor, var, point))


def _in_steps(site: Site, tensor: DraftTensor, var: Var, point: Point) -> Stmt:
    """Every second or third element, from any on."""
    draft, source = site.draft, site.draft.source
    step = source.integer(2, 3)
    first = source.integer(0, min(step, int(point.extent.value)) - 1)
    count = draft.extent((int(point.extent.value) - 1 - first) // step + 1)
    at = moved(draft, tirx.Mul(var, draft.number(step)), first)
    within = inside(site, Point(Term(var, draft.index_dtype, draft.index_range(count)), count))
    return loop(draft, var, count, store(tensor, value_of(within, tensor.dtype, point.term), [at]))


def _in_range(site: Site, tensor: DraftTensor, var: Var, point: Point) -> Stmt:
    """The elements from one to another; which are all of them in rare cases alone."""
    draft, source, length = site.draft, site.draft.source, int(point.extent.value)
    first, last = sorted(source.integer(0, length - 1) for _ in range(2))
    if source.flip(KNOBS.remains.all_of_it):
        first, last = 0, length - 1
    count = draft.extent(last - first + 1)
    values = Range(first, last, True)
    within = inside(site, Point(Term(var, draft.index_dtype, values), count))
    leaf = Term(var, draft.index_dtype, values)
    body = store(tensor, value_of(within, tensor.dtype, leaf), [var])
    return loop(draft, var, count, body, start=first)


def _shown(site: Site, tensor: DraftTensor) -> list[Stmt]:
    """A loop that copies it to an output, where it is none itself; what follows may use it in either case."""
    site.tensors.append(tensor)
    return [] if tensor.role == "output" else [_reader(site, tensor, 0)]


# --- copies, and updates in place ------------------------------------------------------------------------


def _reader(site: Site, tensor: DraftTensor, number: int, *others: DraftTensor) -> Stmt:
    """Loops that store each element plus a number, and those of others, to a new output: two readers with the same
    number are alike."""
    draft, loops = site.draft, [counted(site.draft, dim) for dim in tensor.dims]
    at = [var for var, _ in loops]
    stores: list[Stmt] = []
    for one in (tensor, *others):
        shown = draft.add_tensor("T", one.dims, one.dtype, one.range, fraction=one.fraction, role="output")
        stores.append(store(shown, _plus(element(one, *at), number), list(at)))
    return nested(draft, loops, sequence(*stores))


def _plus(term: Term, number: int) -> Term:
    total = apply(BY_NAME["add"], term, constant(number, term.dtype)) if number else None
    return total or term


def _changed(site: Site, tensor: DraftTensor) -> Stmt:
    """Each element is made of what it was, or one element is."""
    draft, source, length = site.draft, site.draft.source, tensor.dims[0]
    if not source.flip(KNOBS.remains.changed_whole):
        at = draft.number(source.integer(0, int(length.value) - 1))
        return store(tensor, _another(site, tensor, element(tensor, at)), [at])
    var, point = counted(draft, length)
    return loop(draft, var, length, store(tensor, _another(inside(site, point), tensor, element(tensor, var)), [var]))


def _another(site: Site, tensor: DraftTensor, old: Term) -> Term:
    """Another value than the old one, in most cases."""
    source = site.draft.source
    if source.flip():
        return value_of(site, tensor.dtype, old)
    more = tirx.Add(old.expr, constant(5, old.dtype).expr)
    return Term(more, old.dtype, old.range + Range(5, 5, True), old.fraction)


def _copied(site: Site) -> Stmt:
    """A tensor is copied, one of the two is changed, and both are read."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    tensor = filled(site, length, role=source.pick(_PLACES))
    copy = new_unfilled(site, (length,), tensor.dtype, role=source.pick(_PLACES))
    var, _ = counted(draft, length)
    straight = source.flip(KNOBS.remains.copied_whole)
    of = var if straight else tirx.Sub(draft.number(int(length.value) - 1), var)
    copied = loop(draft, var, length, store(copy, element(tensor, of), [var]))
    changed = _changed(site, tensor if source.flip(KNOBS.remains.source_changed) else copy)
    readers = [_reader(site, tensor, source.integer(0, 1), copy)]
    if source.flip():
        readers.append(_changed(site, source.pick((tensor, copy))))
        readers.append(_reader(site, copy, source.integer(0, 1), tensor))
    site.tensors.append(copy)
    return sequence(copied, changed, *readers)


def _in_place(site: Site) -> Stmt:
    """A tensor is updated in place some times; the same reader stands before and after each."""
    draft, source = site.draft, site.draft.source
    tensor, number = filled(site, any_length(site), role=source.pick(_PLACES)), source.integer(0, 2)
    parts: list[Stmt] = [_reader(site, tensor, number)] if source.flip() else []
    for _ in range(source.integer(*KNOBS.remains.updates)):
        parts += [_changed(site, tensor), _reader(site, tensor, number)]
    draft.features.add("in_place")
    return sequence(*parts)


def _read_again(site: Site) -> Stmt:
    """A loop reads an element, stores to the tensor, there or elsewhere, and reads that element again."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    tensor = filled(site, length, role=source.pick(_PLACES))
    shown = [filled(site, length, dtype=tensor.dtype) for _ in range(2)]
    var, point = counted(draft, length)
    within, number = inside(site, point), source.integer(0, 2)
    fixed = draft.number(source.integer(0, int(length.value) - 1))
    read, written = (_place(draft, var, fixed, length) for _ in range(2))
    seen = [store(output, _plus(element(tensor, read), number), [var]) for output in shown]
    changed = store(tensor, _another(within, tensor, element(tensor, written)), [written])
    if source.flip(KNOBS.remains.two_sides):
        changed = tirx.IfThenElse(draw_test(within), changed, None)
    return loop(draft, var, length, sequence(seen[0], changed, seen[1]))


def _place(draft: FunctionDraft, var: Var, fixed: Expr, length: Extent) -> Expr:
    back = tirx.Sub(draft.number(int(length.value) - 1), var)
    return draft.source.pick((var, fixed, back))


_KINDS: dict[str, Callable[[Site], Stmt]] = {
    "partly_covered": _partly_covered,
    "copies_kept": _copied,
    "updates_in_place": _in_place,
    "read_again": _read_again,
    "inner_branches": draw_inner_branches,
    "asked_again": draw_asked_again,
}

RECIPES = (
    PrimRecipe("remains", draw_remains, host=True),
    *(PrimRecipe(name, with_some(kind, most=KNOBS.remains.of_one_kind), host=True) for name, kind in _KINDS.items()),
)
