"""What is reduced over threads: the reducers that TVM knows, of one value or of two together.

Their forms are those of src/s_tir/schedule/primitive/reduction.cc (ReducerRegistry): only these does
LowerCrossThreadReduction take. The loops around are in `thread_reductions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.source import favour
from generators.tir.block_loops import BlockBody
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.terms import Term, bounded, cast, constant
from generators.tvm_api import Expr


@dataclass(frozen=True, slots=True)
class ReducerKnobs:
    """Ratios of the kinds of reducer."""

    tuples: float = 0.4
    """Two values are reduced together."""
    two_sums: float = 0.25
    """Such a pair is of two sums; else of an extreme and its place, which half floats hold no distinct numbers for."""
    reordered: float = 0.5
    """The stores of a pair are not in the order of the reducer."""


KNOBS = ReducerKnobs()


@dataclass(frozen=True, slots=True)
class ResultTensors:
    """The tensors that hold results: their shape, the indices of the one that is computed, and their scope."""

    shape: tuple[int, ...]
    where: list[Expr]
    scope: str

    def new(self, draft: FunctionDraft, dtype: str, values: Range) -> DraftTensor:
        """One of them."""
        dims = tuple(draft.extent(n) for n in self.shape)
        if self.scope == "global":
            return draft.add_tensor("R", dims, dtype, values, role="output")
        return draft.add_tensor("R", dims, dtype, values, role="local", scope=self.scope)


@dataclass(frozen=True, slots=True)
class ReducedTensors:
    """The tensors that a reduction writes, its body and its init."""

    tensors: tuple[DraftTensor, ...]
    body: BlockBody


_SIMPLE: dict[str, Callable[[Expr, Expr], Expr]] = {
    "sum": tirx.Add,
    "product": tirx.Mul,
    "max": tirx.Max,
    "min": tirx.Min,
}


def draw_reducer(draft: FunctionDraft, results: ResultTensors, at: Term, element: Term, length: int) -> ReducedTensors:
    """A reduction of so many elements; `at` is the place of one among them."""
    if draft.source.flip(KNOBS.tuples):
        if draft.source.flip(KNOBS.two_sums) or element.dtype in ("float16", "bfloat16"):
            return _two_sums(draft, results, element, length)
        return _extreme(draft, results, at, element, length)
    kind = favour(draft.source, "sum", "max", "min", "product")
    draft.features.add(f"thread_{kind}")
    if kind == "product":
        element = bounded(element, Range(-1, 1, True))
    init, values = _identity(kind, element, length)
    result, where = results.new(draft, element.dtype, values), results.where
    update = _SIMPLE[kind](load(result, where).expr, element.expr)
    body = BlockBody(tirx.BufferStore(result.buffer, update, where), tirx.BufferStore(result.buffer, init, where))
    return ReducedTensors((result,), body)


def _identity(kind: str, element: Term, length: int) -> tuple[Expr, Range]:
    """What a reduction starts from, and the range of its result."""
    match kind:
        case "sum":
            return constant(0, element.dtype).expr, element.range.summed(length)
        case "product":
            return constant(1, element.dtype).expr, Range(-1, 1, True)
        case "max":
            return tirx.min_value(element.dtype), element.range
        case _:
            return tirx.max_value(element.dtype), element.range


def _two_sums(draft: FunctionDraft, results: ResultTensors, element: Term, length: int) -> ReducedTensors:
    """The sum of the elements, and that of their squares or of their signs changed."""
    element = bounded(element, Range(-2, 2, True))
    square = draft.source.flip() and element.dtype != "bfloat16"
    other = tirx.Mul(element.expr, element.expr) if square else tirx.Sub(constant(1, element.dtype).expr, element.expr)
    values = Range(0, 4, True) if square else Range(-1, 3, True)
    terms = (element, Term(other, element.dtype, values))
    made = [results.new(draft, t.dtype, t.range.summed(length)) for t in terms]
    updates = [tirx.Add(load(r, results.where).expr, t.expr) for r, t in zip(made, terms, strict=True)]
    draft.features.add("thread_two_sums")
    return _pair(draft, made, updates, [constant(0, t.dtype).expr for t in terms], results.where)


def _extreme(draft: FunctionDraft, results: ResultTensors, at: Term, element: Term, length: int) -> ReducedTensors:
    """The greatest or least element and where it is, in both forms that TVM knows: of equal elements the second one
    takes the first; for the other, elements are made distinct, since which one is found depends on the order."""
    source, dtype = draft.source, element.dtype
    largest, ordered = source.flip(), source.flip()
    if not ordered:
        position = cast(at, dtype).expr
        spread = tirx.Add(tirx.Mul(element.expr, constant(length, dtype).expr), position)
        element = Term(spread, dtype, element.range.scaled(length) + Range(0, length, True))
    kept = draft.index_dtype if source.flip() else "int32"
    place = cast(Term(at.expr, draft.index_dtype, at.range), kept).expr
    found = results.new(draft, kept, Range(-1, length - 1, True))
    best, where = results.new(draft, dtype, element.range), results.where
    old_place, old = load(found, where).expr, load(best, where).expr
    if ordered:
        beyond = tirx.GT if largest else tirx.LT
        first = tirx.And(tirx.EQ(old, element.expr), tirx.LT(old_place, place))
        keep, keeps = tirx.Or(beyond(old, element.expr), first), beyond(old, element.expr)
    else:
        keep = keeps = (tirx.GE if largest else tirx.LE)(old, element.expr)
    updates = [tirx.Select(keep, old_place, place), tirx.Select(keeps, old, element.expr)]
    extreme = tirx.min_value(dtype) if largest else tirx.max_value(dtype)
    draft.features.add("thread_argmax" if largest else "thread_argmin")
    return _pair(draft, [found, best], updates, [tirx.IntImm(kept, -1), extreme], where)


def _pair(
    draft: FunctionDraft, results: list[DraftTensor], updates: list[Expr], inits: list[Expr], where: list[Expr]
) -> ReducedTensors:
    """Two values that are reduced together; stores in any order."""
    names = [tirx.Var(draft.new_name("x"), r.dtype) for r in results]
    binds = [tirx.Bind(name, value) for name, value in zip(names, updates, strict=True)]
    stores = [tirx.BufferStore(r.buffer, name, where) for r, name in zip(results, names, strict=True)]
    firsts = [tirx.BufferStore(r.buffer, value, where) for r, value in zip(results, inits, strict=True)]
    for order in (stores, firsts):
        if draft.source.flip(KNOBS.reordered):
            order.reverse()
            draft.features.add("reordered_pair")
    return ReducedTensors(tuple(results), BlockBody(tirx.SeqStmt([*binds, *stores]), tirx.SeqStmt(firsts)))
