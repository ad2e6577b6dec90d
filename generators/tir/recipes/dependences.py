"""Statements whose order and indices matter: elements that are read before and after they are written, loops of which
an iteration needs what another one has stored, and indices and products that have no room to be computed otherwise.

They are what transformations of loops have to ask about first: whoever moves a load, merges, splits, vectorises or
reverses a loop, or simplifies an index or a cast, must leave some of these alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvm import tirx

from generators.ranges import Range
from generators.source import Source, favour
from generators.tir.expressions import Operands
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft
from generators.tir.launch import made_of
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import among, counted, element, loop, moved, nested, new_unfilled, with_some
from generators.tir.site import Site, sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt

_WIDER = {
    "int8": ("int16", "int32", "int64"),
    "uint8": ("uint16", "int32"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
}


def draw_dependences(source: Source) -> PrimProgram:
    """A few of these statements, which may work on the same tensor."""
    return among(source, _some)


def _some(site: Site) -> Stmt:
    source = site.draft.source
    site.draft.features.add("dependences")
    return sequence(*(source.pick(_KINDS)(site) for _ in range(source.integer(*KNOBS.dependences.count))))


def any_length(site: Site) -> Extent:
    """The length of a loop."""
    return site.draft.extent(site.draft.source.pick(KNOBS.dependences.lengths))


def _tensor(site: Site, length: Extent) -> DraftTensor:
    """A tensor of this length, in some cases one of an earlier statement."""
    held = [t for t in site.writable if [d.text for d in t.dims] == [length.text] and t.dtype != "bool"]
    if held and site.draft.source.flip(KNOBS.dependences.again):
        return site.draft.source.pick(held)
    return filled(site, length, role="output" if site.draft.source.flip() else "alloc")


def filled(site: Site, *dims: Extent, role: str = "output", dtype: str = "") -> DraftTensor:
    """A new tensor, stored before what is drawn next: each element has another value where its type has so many."""
    draft = site.draft
    tensor = new_unfilled(site, dims, dtype, role=role)
    loops = [counted(draft, dim) for dim in dims]
    at = [point.term for _, point in loops]
    body = store(tensor, made_of(Operands(draft, [], at), tensor.dtype, 0, *at), [term.expr for term in at])
    draft.statements.append(nested(draft, loops, body))
    site.tensors.append(tensor)
    return tensor


def value_of(site: Site, dtype: str, *leaves: Term) -> Term:
    """A value that hangs on each of these."""
    return made_of(site.operands([], 0), dtype, site.draft.source.integer(0, 1), *leaves)


def inside(site: Site, point: Point) -> Site:
    """The place in the loop of a variable."""
    return site.inside(point, turns=point.extent.high)


# --- what one iteration stores and another one reads -----------------------------------------------------


def _carried(site: Site) -> Stmt:
    """Each element is made of the one before it, or of one after it, which is still the old one."""
    draft, steps = site.draft, any_length(site)
    by = 1 if draft.source.flip(KNOBS.dependences.by_one) else 2
    tensor = _tensor(site, draft.extent(int(steps.value) + by))
    var, point = counted(draft, steps)
    here, other = point.term.expr, moved(draft, point.term.expr, by)
    to, of = (other, here) if draft.source.flip(KNOBS.dependences.forwards) else (here, other)
    inner = inside(site, point)
    leaves = [element(tensor, of)]
    if draft.source.flip():
        leaves.append(element(tensor, to))
    return loop(draft, var, steps, store(tensor, value_of(inner, tensor.dtype, *leaves), [to]))


def _of_one_element(site: Site) -> Stmt:
    """Each element is made of one that the loop stores as well."""
    draft, length = site.draft, any_length(site)
    tensor = _tensor(site, length)
    fixed = draft.number(draft.source.integer(0, int(length.value) - 1))
    var, point = counted(draft, length)
    leaves = [element(tensor, fixed)]
    if draft.source.flip():
        leaves.append(element(tensor, var))
    return loop(draft, var, length, store(tensor, value_of(inside(site, point), tensor.dtype, *leaves), [var]))


def _exchanged(site: Site) -> Stmt:
    """Two elements change places by way of a name, in a loop or once."""
    draft, length = site.draft, any_length(site)
    tensor, last = _tensor(site, length), int(length.value) - 1
    if draft.source.flip():
        var, point = counted(draft, draft.extent(max(int(length.value) // 2, 1)))
        return loop(draft, var, point.extent, _exchange(site, tensor, var, tirx.Sub(draft.number(last), var)))
    first, second = (draft.source.integer(0, last) for _ in range(2))
    return _exchange(site, tensor, draft.number(first), draft.number(second))


def _exchange(site: Site, tensor: DraftTensor, first: Expr, second: Expr) -> Stmt:
    draft = site.draft
    name = tirx.Var(draft.new_name("x"), tensor.dtype)
    kept = replace(element(tensor, first), expr=name)
    over = element(tensor, second)
    return sequence(
        tirx.Bind(name, element(tensor, first).expr),
        store(tensor, over if draft.source.flip() else value_of(site, tensor.dtype, over), [first]),
        store(tensor, kept if draft.source.flip() else value_of(site, tensor.dtype, kept), [second]),
    )


def _read_in_another_order(site: Site) -> Stmt:
    """Two loops of one length, one after the other: the second reads what the first has stored, from its end, moved by
    some elements, or in place."""
    draft, length = site.draft, any_length(site)
    first, second = (filled(site, length) for _ in range(2))
    last = int(length.value) - 1
    (one, here), (two, there) = counted(draft, length), counted(draft, length)
    stored = store(first, value_of(inside(site, here), first.dtype, here.term), [one])
    by = draft.source.integer(1, max(last, 1))
    at = draft.source.pick((*elsewhere(draft, two, length, by), two))
    read = store(second, value_of(inside(site, there), second.dtype, element(first, at)), [two])
    return sequence(loop(draft, one, length, stored), loop(draft, two, length, read))


def _joined(site: Site) -> Stmt:
    """Two loops that only a temporary buffer joins: the second reads it some elements before or after where it is, and
    in some cases where it is as well. Its loop is shorter, begins later, or asks whether there is such an element; or
    the last elements were there before."""
    draft, source, turns = site.draft, site.draft.source, any_length(site)
    by = 1 if source.flip(KNOBS.dependences.by_one) else 2
    shift, start = favour(source, (by, 0), (-by, by), (-by, 0))
    guarded = start + shift < 0 or source.flip(KNOBS.dependences.joined_guarded)
    length = turns if guarded else draft.extent(int(turns.value) + by)
    before = not guarded and not start and source.flip()
    joint = filled(site, length, role="alloc") if before else new_unfilled(site, (length,), role="alloc")
    shown = filled(site, draft.extent(int(turns.value) + start))
    (one, here), (two, there) = counted(draft, turns if before else length), counted(draft, turns, start)
    stored = store(joint, value_of(inside(site, here), joint.dtype, here.term), [one])
    if not before:
        site.tensors.append(joint)
    at = moved(draft, two, shift)
    leaves = [element(joint, at)]
    if not start and source.flip(KNOBS.dependences.joined_here):
        leaves.append(element(joint, two))
    read: Stmt = store(shown, value_of(inside(site, there), shown.dtype, *leaves), [two])
    if guarded:
        test = tirx.LT(at, length.expr) if shift > 0 else tirx.GE(at, draft.number(0))
        read = tirx.IfThenElse(test, read, None)
    return sequence(loop(draft, one, here.extent, stored), loop(draft, two, turns, read, start=start))


def elsewhere(draft: FunctionDraft, index: Expr, length: Extent, by: int) -> tuple[Expr, ...]:
    """Other places below the length for an index: from the end, moved on and around, and back as far as it goes."""
    return (
        tirx.Sub(draft.number(int(length.value) - 1), index),
        tirx.FloorMod(tirx.Add(index, draft.number(by)), length.expr),
        tirx.Max(tirx.Sub(index, draft.number(by)), draft.number(0)),
    )


def _triangle(site: Site) -> Stmt:
    """The inner loop is as long as the variable of the outer one says."""
    draft, source = site.draft, site.draft.source
    length, width, count_of = triangle(draft)
    first = source.flip()
    tensor = filled(site, *((length, width) if first else (width, length)))
    (var, outer), (name, inner) = counted(draft, length), counted(draft, width)
    turns = int(length.value) * int(width.value)
    value = value_of(site.inside(outer, inner, turns=turns), tensor.dtype, inner.term, outer.term)
    body = store(tensor, value, [var, name] if first else [name, var])
    return loop(draft, var, length, tirx.For(name, draft.number(0), count_of(var), tirx.ForKind.SERIAL, body))


def triangle(draft: FunctionDraft) -> tuple[Extent, Extent, Callable[[Expr], Expr]]:
    """The length of a loop, the most turns of a loop in it, and their number by the variable of the first: it grows to
    that or falls from it by one each time. The most may be more than the length of the first."""
    length = draft.extent(draft.source.integer(2, KNOBS.dependences.triangle))
    more = draft.source.integer(1, KNOBS.dependences.longer)
    width = draft.extent(int(length.value) - 1 + more)
    if draft.source.flip():
        return length, width, lambda var: tirx.Add(var, draft.number(more))
    return length, width, lambda var: tirx.Sub(width.expr, var)


# --- what has no room to be computed otherwise -----------------------------------------------------------


def _below_zero(site: Site) -> Stmt:
    """A position of two loops less some, divided by the inner one's length: the quotient begins below zero."""
    draft, source = site.draft, site.draft.source
    rows, width = draft.extent(source.integer(1, 4)), draft.extent(source.pick(KNOBS.dependences.widths))
    less = source.integer(1, int(width.value) + 1)
    shift = -(-less // int(width.value))
    tall = draft.extent(int(rows.value) + shift)
    quotients, rests = filled(site, tall), filled(site, width)
    (one, outer), (two, inner) = counted(draft, rows), counted(draft, width)
    place = tirx.Sub(tirx.Add(tirx.Mul(one, width.expr), two), draft.number(less))
    quotient = tirx.Add(tirx.FloorDiv(place, width.expr), draft.number(shift))
    rest = tirx.FloorMod(place, width.expr)
    within = site.inside(outer, inner, turns=int(rows.value) * int(width.value))
    made = [
        store(tensor, value_of(within, tensor.dtype, inner.term), [at])
        for tensor, at in ((quotients, quotient), (rests, rest))
    ]
    some = made if source.flip() else [source.pick(made)]
    return nested(draft, ((one, outer), (two, inner)), sequence(*some))


def _product(site: Site) -> Stmt:
    """Narrow numbers are widened, and then make a product, or of 8 bits a sum, that the narrow type does not hold."""
    draft, source, length = site.draft, site.draft.source, any_length(site)
    narrow = source.pick(tuple(_WIDER))
    wide = source.pick(_WIDER[narrow])
    top = KNOBS.dependences.tops[narrow]
    values = Range(0 if narrow.startswith("u") else -top, top, True)
    one, other = (draft.add_tensor("A", (length,), narrow, values, role="input") for _ in range(2))
    reach = Range(0 if wide.startswith("u") else -top * top, top * top, True)
    output = draft.add_tensor("T", (length,), wide, reach, role="output")
    var, _ = counted(draft, length)
    pair = [tirx.Cast(wide, element(tensor, var).expr) for tensor in (one, other)]
    node = tirx.Mul
    if narrow.endswith("int8") and source.flip(KNOBS.dependences.sums):
        node = tirx.Add if wide.startswith("u") else source.pick((tirx.Add, tirx.Sub))
    return loop(draft, var, length, tirx.BufferStore(output.buffer, node(*pair), [var]))


_KINDS: tuple[Callable[[Site], Stmt], ...] = (
    _carried,
    _of_one_element,
    _exchanged,
    _read_in_another_order,
    _joined,
    _triangle,
    _below_zero,
    _product,
)


RECIPES = (
    PrimRecipe("dependences", draw_dependences, host=True),
    PrimRecipe("joined_loops", with_some(_joined), host=True),
    PrimRecipe("narrow_products", with_some(_product, most=3), host=True),
)
