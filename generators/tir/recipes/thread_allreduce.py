"""Reductions over the threads of a block as LowerCrossThreadReduction leaves them: `tvm_thread_allreduce` under an
attribute with the reducer, of one value or of two, in one group of threads or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.source import Source, weighted
from generators.tir.expressions import Operands, draw_condition
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.functions import finished
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.block_drafts import Loop, add_input, drafted, loop_of, of_all, within
from generators.tir.recipes.memory_knobs import AROUND, REDUCED, SHARED
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence, store
from generators.tir.terms import Term, capacity, constant, held
from generators.tvm_api import Expr, Node, Stmt, Var

_NEUTRAL = 100
"""No value is as large: the neutral element of a greatest or least one."""


@dataclass(frozen=True, slots=True)
class _Reduction:
    """What is reduced at once: the types, and the reducer made of pairs of variables."""

    dtypes: tuple[str, ...]
    reducer: Node


def _draw(source: Source) -> PrimProgram:
    """A kernel with one reduction, of which every thread of a group shows the result."""
    draft = drafted(source, AROUND)
    blocks = loop_of(draft, draft.extent(weighted(source, SHARED.rows)), tag="blockIdx.x")
    groups = loop_of(draft, draft.extent(weighted(source, REDUCED.groups)), tag="threadIdx.y")
    threads = loop_of(draft, draft.extent(weighted(source, REDUCED.threads)), tag="threadIdx.x")
    loops = [blocks, groups, threads]
    reduction = _pair(draft) if source.flip(REDUCED.pair) else _single(draft)
    results, before = list[DraftTensor](), list[Stmt]()
    values = []
    for dtype in reduction.dtypes:
        top = min(8, int(capacity(dtype)) // max(threads.point.extent.value, 1))
        bound = Range(0 if dtype.startswith("u") else -top, top, True)
        given = add_input(draft, [loop.point.extent for loop in loops], dtype)
        term = held(load(given, [loop.var for loop in loops]), bound, 0)
        values.append(term.expr)
        total = (bound * Range(0, threads.point.extent.value, True)).including(_NEUTRAL)
        total = total if dtype.startswith("u") else total.including(-_NEUTRAL)
        result = draft.add_tensor("R", (draft.extent(1),), dtype, total, role="alloc", scope="local")
        before.append(tirx.AllocBuffer(result.buffer))
        results.append(result)
    before.append(_reduced(draft, reduction, values, results, loops))
    shown = [_shown(draft, result, loops) for result in results]
    draft.statements.append(within(draft, loops, sequence(*before, *shown)))
    draft.features |= {"kernels", "thread_allreduce"}
    return finished(draft, schedulable=False, attributes={"tirx.is_scheduled": True})


def _reduced(
    draft: FunctionDraft, reduction: _Reduction, values: list[Expr], results: list[DraftTensor], loops: list[Loop]
) -> Stmt:
    """The call under its attribute."""
    condition: Expr = tirx.IntImm("bool", 1)
    if draft.source.flip(REDUCED.conditional):
        operands = Operands(draft, [], [loops[-1].point.term])
        condition = draw_condition(operands, 0).expr
        draft.features.add("conditional_allreduce")
    zero = tirx.IntImm("int32", 0)
    places = [tirx.BufferLoad(result.buffer, [zero]) for result in results]
    arguments = [tirx.IntImm("uint32", len(values)), *values, condition, *places, loops[-1].var]
    call = tirx.call_intrin("void", "tirx.tvm_thread_allreduce", *arguments)
    return tirx.AttrStmt(reduction.reducer, "reduce_scope", zero, tirx.Evaluate(call))


def _single(draft: FunctionDraft) -> _Reduction:
    """A sum, or the greatest or least value."""
    dtype = draft.draw_dtype()
    left, right = (tirx.Var(name, dtype) for name in "xy")
    lowest = 0 if dtype.startswith("u") else -_NEUTRAL
    node, start = draft.source.pick(((tirx.Add, 0), (tirx.Max, lowest), (tirx.Min, _NEUTRAL)))
    return _Reduction((dtype,), _reducer([left], [right], [node(left, right)], [constant(start, dtype).expr]))


def _pair(draft: FunctionDraft) -> _Reduction:
    """Two sums of other types, or the greatest value with the number that goes with it, the least of these in a tie."""
    one, other = draft.draw_dtype(), draft.source.pick(("int32", "int64"))
    left, right = ((tirx.Var(f"{side}0", one), tirx.Var(f"{side}1", other)) for side in "xy")
    if draft.source.flip():
        sums = [tirx.Add(a, b) for a, b in zip(left, right, strict=True)]
        return _Reduction((one, other), _reducer(left, right, sums, [constant(0, d).expr for d in (one, other)]))
    same = tirx.And(tirx.EQ(left[0], right[0]), tirx.LT(left[1], right[1]))
    first = tirx.Or(tirx.GT(left[0], right[0]), same)
    parts = [tirx.Select(first, a, b) for a, b in zip(left, right, strict=True)]
    starts = [constant(0 if one.startswith("u") else -_NEUTRAL, one).expr, constant(_NEUTRAL, other).expr]
    draft.features.add("arg_allreduce")
    if draft.source.flip(REDUCED.value_first):
        return _Reduction((one, other), _reducer(left, right, parts, starts))
    return _Reduction((other, one), _reducer(left[::-1], right[::-1], parts[::-1], starts[::-1]))


def _reducer(left: Sequence[Var], right: Sequence[Var], combined: Sequence[Expr], identity: Sequence[Expr]) -> Node:
    return tirx.CommReducer(list(left), list(right), list(combined), list(identity))


def _shown(draft: FunctionDraft, result: DraftTensor, loops: list[Loop]) -> Stmt:
    """An output's element of the thread, made of the result."""
    source = draft.source
    got = Term(tirx.BufferLoad(result.buffer, [tirx.IntImm("int32", 0)]), result.dtype, result.range)
    dims = tuple(loop.point.extent for loop in loops)
    output = draft.add_tensor("T", dims, "int64", Range(-9999, 9999, True), role="output")
    operands = Operands(draft, [], [loop.point.term for loop in loops])
    value = of_all(operands, "int64", source.integer(0, 1), got)
    return store(output, value, [loop.var for loop in loops])


RECIPES: tuple[PrimRecipe, ...] = (PrimRecipe("thread_allreduce", _draw, threads=True),)
