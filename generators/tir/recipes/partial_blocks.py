"""Blocks that change a part of what an earlier block has stored: with predicates of their own, also where they reduce,
under a condition inside, without an init, in triangles of loops, and reading from the other end.

What splits, reorders, merges, caches or lowers such loops has to keep the predicate, also on the init, what was there
before, and the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tvm import s_tir, tirx

from generators.ranges import Range
from generators.source import Source, favour
from generators.tir.block_loops import REDUCE, SPATIAL, BlockBody, block_of, conjunction
from generators.tir.expressions import Operands
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.functions import begun, draw_one, finished
from generators.tir.launch import made_of
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.block_drafts import add_input, loop_of
from generators.tir.recipes.dependences import elsewhere, triangle
from generators.tir.recipes.plain_knobs import AROUND_BLOCKS, KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, counted, loop, nested
from generators.tir.site import sequence, store
from generators.tir.terms import Term, held
from generators.tvm_api import Expr, Stmt, Var


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of a block: what it is bound to, and its extent."""

    extent: Extent
    value: Expr
    kind: int = SPATIAL


def draw_partial_blocks(source: Source) -> PrimProgram:
    """Tensors that a block fills, and one of these blocks for each that changes it."""
    draft = begun(source, AROUND_BLOCKS)
    if source.flip():
        draw_one(draft)
    draft.final = True
    for _ in range(source.integer(*KNOBS.parts.count)):
        draft.statements.append(source.pick(_KINDS)(draft))
    draft.features |= {"predicate", "partial_blocks"}
    return finished(draft, schedulable=True)


def _block(
    draft: FunctionDraft, axes: Sequence[_Axis], make: Callable[[list[Term]], BlockBody], *predicates: Expr
) -> Stmt:
    """A block over these axes, where all of the predicates hold."""
    names = [tirx.Var(draft.new_name("k" if axis.kind == REDUCE else "v"), draft.index_dtype) for axis in axes]
    terms = [Term(v, draft.index_dtype, draft.index_range(axis.extent)) for v, axis in zip(names, axes, strict=True)]
    domains = [tirx.IterVar((0, axis.extent.expr), v, axis.kind) for v, axis in zip(names, axes, strict=True)]
    block = block_of(draft, domains, draft.new_name("part"), make(terms))
    return s_tir.SBlockRealize([axis.value for axis in axes], conjunction(predicates), block)


def _value(draft: FunctionDraft, dtype: str, terms: list[Term], *leaves: Term) -> Term:
    return made_of(Operands(draft, [], terms), dtype, draft.source.integer(0, 1), *leaves)


def filled_by_block(draft: FunctionDraft, *dims: Extent, values: Range | None = None) -> tuple[DraftTensor, Stmt]:
    """A new tensor, and the loops that fill it: each element with another value where its type has so many, or all
    with one number. values: those of the fill, if not all that the tensor may hold."""
    dtype = draft.source.pick(NUMBERS)
    whole, fraction = held_range(dtype)
    role = "output" if draft.source.flip(KNOBS.parts.output) else "local"
    tensor = draft.add_tensor("T", dims, dtype, whole, fraction=fraction, role=role)
    values = in_dtype(values or whole, dtype)
    number = draft.source.integer(int(values.low), int(values.high))
    constant = draft.source.flip(KNOBS.parts.constant)
    loops = [counted(draft, dim) for dim in dims]

    def make(terms: list[Term]) -> BlockBody:
        one = Term(tirx.const(number, dtype), dtype, Range(number, number, True), 0)
        value = one if constant else held(_value(draft, dtype, terms, *terms), values, 0)
        return BlockBody(store(tensor, value, [term.expr for term in terms]))

    return tensor, _over(draft, loops, make)


def _over(draft: FunctionDraft, loops: Sequence[tuple[Var, Point]], make: Callable[[list[Term]], BlockBody]) -> Stmt:
    """A block with an axis for each of the loops, which are around it."""
    return nested(draft, loops, _block(draft, [_Axis(point.extent, var) for var, point in loops], make))


def _in_either_order(draft: FunctionDraft, one: tuple[Var, Point], other: tuple[Var, Point], body: Stmt) -> Stmt:
    return nested(draft, (one, other) if draft.source.flip() else (other, one), body)


def in_dtype(values: Range, dtype: str) -> Range:
    return Range(0 if dtype.startswith("u") else values.low, values.high, True)


def shown_by_block(draft: FunctionDraft, tensor: DraftTensor) -> list[Stmt]:
    """The loops that write a tensor into an output, where it is none itself."""
    if tensor.role == "output":
        return []
    out = draft.add_tensor("T", tensor.dims, tensor.dtype, tensor.range, fraction=tensor.fraction, role="output")
    loops = [counted(draft, dim) for dim in tensor.dims]

    def make(terms: list[Term]) -> BlockBody:
        at = [term.expr for term in terms]
        read = load(tensor, at)
        return BlockBody(store(out, read if draft.source.flip() else _value(draft, out.dtype, terms, read), at))

    return [_over(draft, loops, make)]


def another(draft: FunctionDraft, tensor: DraftTensor, terms: list[Term], at: list[Expr]) -> Term:
    """A value that is another one than the element at most places."""
    old, dtype = load(tensor, at), tensor.dtype
    by = draft.source.integer(1, 5)
    moved = Term(tirx.Add(old.expr, tirx.const(by, dtype)), dtype, old.range + Range(by, by, True), old.fraction)
    return moved if draft.source.flip() else _value(draft, dtype, terms, moved)


def any_length(draft: FunctionDraft) -> Extent:
    return draft.extent(draft.source.pick(KNOBS.parts.lengths))


def first_turn(draft: FunctionDraft) -> int:
    """The number at which a loop begins."""
    return draft.source.integer(1, 3) if draft.source.flip(KNOBS.parts.started) else 0


def for_a_part(draft: FunctionDraft, length: Extent, value: Expr) -> Expr:
    """Holds for some of the numbers below the length, and not for all."""
    some = draft.number(draft.source.integer(1, max(int(length.value) - 1, 1)))
    return draft.source.pick((tirx.LT(value, some), tirx.GE(value, some), tirx.NE(value, some)))


def _for_some(draft: FunctionDraft) -> Stmt:
    """Elements are stored anew for a part of the loop."""
    length = any_length(draft)
    tensor, fill = filled_by_block(draft, length)
    each = loop_of(draft, length, start=first_turn(draft))

    def make(terms: list[Term]) -> BlockBody:
        at = [terms[0].expr]
        return BlockBody(store(tensor, another(draft, tensor, terms, at), at))

    here = each.point.term.expr
    part = _block(draft, [_Axis(length, here)], make, for_a_part(draft, length, here))
    return sequence(fill, each.around(draft, part), *shown_by_block(draft, tensor))


def _reduced_for_some(draft: FunctionDraft) -> Stmt:
    """A reduction into some of the elements that are there, each after its init."""
    length, turns = any_length(draft), draft.extent(draft.source.integer(1, 4))
    tensor, fill = filled_by_block(draft, length)
    given = add_input(draft, (length, turns), tensor.dtype)
    outer, inner = counted(draft, length), counted(draft, turns)

    def make(terms: list[Term]) -> BlockBody:
        at = [terms[0].expr]
        read = load(given, [terms[0].expr, terms[1].expr])
        kind = draft.source.pick((tirx.Max, tirx.Min))
        begins = Term(tirx.const(0, tensor.dtype), tensor.dtype, tensor.range.including(0), 0)
        either = tensor.range.hull(given.range)
        node = Term(kind(load(tensor, at).expr, read.expr), tensor.dtype, either, tensor.fraction)
        return BlockBody(store(tensor, node, at), store(tensor, begins, at))

    where = for_a_part(draft, length, outer[0])
    part = _block(draft, [_Axis(length, outer[0]), _Axis(turns, inner[0], REDUCE)], make, where)
    return sequence(fill, _in_either_order(draft, outer, inner, part), *shown_by_block(draft, tensor))


def _reduced_onto(draft: FunctionDraft) -> Stmt:
    """A reduction without an init: it goes on from what is there."""
    length, turns = any_length(draft), draft.extent(draft.source.integer(1, KNOBS.parts.turns))
    tensor, fill = filled_by_block(draft, length, values=KNOBS.parts.term)
    terms_of = in_dtype(KNOBS.parts.term, tensor.dtype)
    given = draft.add_tensor("A", (length, turns), tensor.dtype, terms_of, role="input")
    outer, inner = counted(draft, length), counted(draft, turns)
    kind = favour(draft.source, tirx.Add, tirx.Max, tirx.Min)

    def make(terms: list[Term]) -> BlockBody:
        at = [terms[0].expr]
        whole = kind(load(tensor, at).expr, load(given, [terms[0].expr, terms[1].expr]).expr)
        return BlockBody(store(tensor, Term(whole, tensor.dtype, tensor.range, tensor.fraction), at))

    part = _block(draft, [_Axis(length, outer[0]), _Axis(turns, inner[0], REDUCE)], make)
    return sequence(fill, _in_either_order(draft, outer, inner, part), *shown_by_block(draft, tensor))


def _if_inside(draft: FunctionDraft) -> Stmt:
    """A block that stores under a condition in its body, and possibly something else before."""
    length = any_length(draft)
    tensor, fill = filled_by_block(draft, length)
    var, _ = counted(draft, length)
    other = draft.add_tensor("T", (length,), tensor.dtype, tensor.range, fraction=tensor.fraction, role="output")

    def make(terms: list[Term]) -> BlockBody:
        at = [terms[0].expr]
        where = for_a_part(draft, length, terms[0].expr)
        change = tirx.IfThenElse(where, store(tensor, another(draft, tensor, terms, at), at), None)
        beside = store(other, _value(draft, tensor.dtype, terms, terms[0]), at)
        return BlockBody(sequence(*((change, beside) if draft.source.flip() else (beside, change))))

    part = _block(draft, [_Axis(length, var)], make)
    return sequence(fill, loop(draft, var, length, part), *shown_by_block(draft, tensor))


def _triangle(draft: FunctionDraft) -> Stmt:
    """The inner loop is as long as the variable of the outer one says."""
    source = draft.source
    length, width, count_of = triangle(draft)
    dims = (length, width) if source.flip() else (width, length)
    tensor, fill = filled_by_block(draft, *dims)
    (var, _), (inner, _) = counted(draft, length), counted(draft, width)
    count = count_of(var)

    def make(terms: list[Term]) -> BlockBody:
        at = [term.expr for term in terms]
        again = source.flip()
        value = another(draft, tensor, terms, at) if again else _value(draft, tensor.dtype, terms[::-1], *terms)
        return BlockBody(store(tensor, value, at))

    order = (var, inner) if dims[0] is length else (inner, var)
    part = _block(draft, [_Axis(dim, value) for dim, value in zip(dims, order, strict=True)], make)
    rows = tirx.For(inner, draft.number(0), count, tirx.ForKind.SERIAL, part)
    return sequence(fill, loop(draft, var, length, rows), *shown_by_block(draft, tensor))


def _from_elsewhere(draft: FunctionDraft) -> Stmt:
    """A nest of the same length reads what the first has stored, each time at another place."""
    length = any_length(draft)
    first, fill = filled_by_block(draft, length)
    values, fraction = held_range(first.dtype)
    second = draft.add_tensor("T", (length,), first.dtype, values, fraction=fraction, role="output")
    var, _ = counted(draft, length)
    by = draft.source.integer(1, int(length.value))

    def make(terms: list[Term]) -> BlockBody:
        here = terms[0].expr
        at = draft.source.pick(elsewhere(draft, here, length, by))
        return BlockBody(store(second, _value(draft, second.dtype, terms, load(first, [at])), [here]))

    return sequence(fill, loop(draft, var, length, _block(draft, [_Axis(length, var)], make)))


_KINDS: tuple[Callable[[FunctionDraft], Stmt], ...] = (
    *(_for_some, _reduced_for_some, _reduced_onto),
    *(_if_inside, _triangle, _from_elsewhere),
)

RECIPES = (PrimRecipe("partial_blocks", draw_partial_blocks, host=True),)
