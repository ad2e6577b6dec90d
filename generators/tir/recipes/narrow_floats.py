"""Arithmetic, loads and stores of floats of 8 and 16 bits, for the passes that legalise these types.

Values are whole or halves and so small that no operation rounds. Most tensors keep away from zero: TVM's conversion to
more exponent bits takes zero and subnormal numbers for normal ones (src/tirx/transform/dtype_conversion.cc).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tvm import tirx

from generators.dtypes import FLOAT8
from generators.ranges import Range
from generators.source import Source, favour, weighted
from generators.tir.block_loops import SPATIAL, BlockAxis, BlockBody, draw_nest
from generators.tir.expressions import Operands
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.functions import finished
from generators.tir.knobs import DEFAULT, TirKnobs, for_rules, for_threads
from generators.tir.launch import made_of
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.terms import COMPARISONS, Term, capacity, chosen, constant, held
from generators.tvm_api import Expr, Stmt


@dataclass(frozen=True, slots=True)
class NarrowFloatKnobs:
    """Sizes and ratios of functions of narrow floats."""

    stages: tuple[int, int] = (1, 3)
    """Tensors computed, each by a block."""
    near_zero: float = 0.3
    """A tensor may hold zero."""
    others: tuple[tuple[str, int], ...] = (("float32", 4), ("float16", 3), ("int32", 2), ("int8", 1))
    """(dtype, weight) of tensors beside those of the narrow type."""
    narrow: float = 0.7
    """A tensor is of the narrow type."""
    hidden: float = 0.4
    """A tensor is no output: the legaliser gives it another type."""
    named: float = 0.05
    """A value of the narrow type is named by a Let or a Bind. Few: the legalisers die on it."""
    conditional: float = 0.4
    """A value is chosen by comparing narrow floats."""
    reinterpreted: float = 0.05
    """A store goes by way of the bits."""


KNOBS = NarrowFloatKnobs()
_ANY_LOOPS = replace(DEFAULT, forms=replace(DEFAULT.forms, dead=0.0))
_PLAIN_LOOPS = for_threads(for_rules(DEFAULT))
_BITS = {"float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "bfloat16": "uint16"}


def _of(dtypes: Sequence[str], knobs: TirKnobs) -> Callable[[Source], PrimProgram]:
    """Draws functions of one of these types."""
    return lambda source: _drawn(source, source.pick(dtypes), knobs)


def _drawn(source: Source, narrow: str, knobs: TirKnobs) -> PrimProgram:
    draft = FunctionDraft(source, knobs)
    draft.dtype = narrow
    draft.index_dtype = source.pick(("int32", "int64"))
    shape = tuple(draft.draw_extent(empty=False) for _ in range(favour(source, 1, 2)))
    for number in range(source.integer(1, 2)):
        dtype = narrow if number == 0 else _dtype(draft)
        draft.add_tensor("A", shape, dtype, _values(draft, dtype), role="input")
    count = source.integer(*KNOBS.stages)
    for number in range(count):
        _stage(draft, shape, narrow if number == 0 else _dtype(draft), last=number == count - 1)
    return finished(draft, schedulable=True)


def _dtype(draft: FunctionDraft) -> str:
    return draft.dtype if draft.source.flip(KNOBS.narrow) else weighted(draft.source, KNOBS.others)


def _values(draft: FunctionDraft, dtype: str) -> Range:
    """A range of numbers that the type holds exactly, usually without zero."""
    top = min(int(capacity(dtype)) // 2, 8)
    if draft.source.flip(KNOBS.near_zero):
        draft.features.add("near_zero")
        return Range(-top, top, True)
    low, high = draft.source.pick(((1, top), (2, top // 2 + 1), (-top, -1)))
    return Range(low, high, True)


def _stage(draft: FunctionDraft, shape: tuple[Extent, ...], dtype: str, *, last: bool) -> None:
    """A block that computes a tensor from those before."""
    source = draft.source
    given = [source.pick(draft.tensors), *([draft.tensors[-1]] if source.flip() else [])]
    role = "local" if not last and source.flip(KNOBS.hidden) else "output"
    target = draft.add_tensor("T", shape, dtype, _values(draft, dtype), role=role)

    def body(terms: list[Term]) -> BlockBody:
        at = [t.expr for t in terms]
        leaves = [load(t, at) for t in given]
        value = _value(draft, leaves, terms, target)
        return BlockBody(_stored(draft, target, value, at))

    axes = [BlockAxis(SPATIAL, dim) for dim in shape]
    draft.statements.append(draw_nest(draft, draft.new_name("narrow"), axes, body))


def _value(draft: FunctionDraft, leaves: list[Term], terms: list[Term], target: DraftTensor) -> Term:
    """A value that depends on all leaves; maybe one of two, chosen by comparing an element."""
    source, operands = draft.source, Operands(draft, [], terms, lets=False)
    value = made_of(operands, target.dtype, source.integer(1, 2), *leaves)
    if source.flip(KNOBS.conditional):
        one = leaves[0]
        between = constant(source.integer(int(one.range.low), int(one.range.high)), one.dtype)
        other = next((t for t in leaves[1:] if t.dtype == one.dtype), between)
        plain = made_of(operands, target.dtype, 1, one)
        value = chosen(source.pick(COMPARISONS)(one.expr, other.expr), value, plain, lazily=source.flip())
        draft.features.add("narrow_comparison")
    return held(value, target.range, target.fraction)


def _stored(draft: FunctionDraft, target: DraftTensor, value: Term, at: list[Expr]) -> Stmt:
    """The store of a value, which may be named or taken as bits on the way."""
    source, expr = draft.source, value.expr
    bits = _BITS.get(target.dtype)
    if bits and source.flip(KNOBS.reinterpreted):
        expr = tirx.reinterpret(target.dtype, tirx.reinterpret(bits, expr))
        draft.features.add("reinterpreted")
    if not source.flip(KNOBS.named):
        return tirx.BufferStore(target.buffer, expr, at)
    draft.features.add("named_value")
    name = tirx.Var(draft.new_name("x"), target.dtype)
    if source.flip():
        return tirx.BufferStore(target.buffer, tirx.Let(name, expr, name), at)
    return tirx.SeqStmt([tirx.Bind(name, expr), tirx.BufferStore(target.buffer, name, at)])


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("float8", _of(FLOAT8, _PLAIN_LOOPS)),
    PrimRecipe("float8_loops", _of(FLOAT8, _ANY_LOOPS), host=True),
    PrimRecipe("bfloat16", _of(("bfloat16",), _PLAIN_LOOPS)),
    PrimRecipe("bfloat16_loops", _of(("bfloat16",), _ANY_LOOPS), host=True),
)
"""Those of loops of any kind are for the host: rules for GPUs do not bind every loop."""
