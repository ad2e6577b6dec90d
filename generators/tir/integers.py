"""Small functions that go exhaustively through small ranges of integers, for rewrites of integer expressions.

Plain loops without blocks. Every variable (`integer_axes.py`) has a range of its own, begins below zero among them;
every drawn expression is stored in an output of its own with an element for each combination of the variables, so that
all values are seen. Expressions come from `integer_shapes.py` and `expressions.py`; their ranges are carried, so that
nothing overflows and nothing is divided by zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import tvm
from tvm import tirx

from generators.dtypes import Array, numpy_dtype
from generators.ranges import Range
from generators.source import Source, favour, weighted
from generators.tir.expressions import Operands, converted, draw_condition, draw_leaf, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Symbol, Unfit, load
from generators.tir.functions import finished
from generators.tir.integer_axes import IntegerAxis, draw_axes
from generators.tir.integer_shapes import CONDITIONS, LOGIC, NUMBERS, RELATIONS, IntegerTerm, Parts
from generators.tir.knobs import INTEGERS, TirKnobs
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point, index_within
from generators.tir.site import sequence
from generators.tir.terms import Term, chosen, constant, fits
from generators.tvm_api import Buffer, Expr, Stmt


@dataclass(slots=True)
class Nest:
    """A nest of loops: its variables, the values that its expressions may use, and its statements."""

    draft: FunctionDraft
    axes: tuple[IntegerAxis, ...]
    operands: Operands
    statements: list[Stmt]

    @property
    def dims(self) -> tuple[Extent, ...]:
        """The dims of the outputs."""
        return tuple(axis.extent for axis in self.axes)

    @property
    def guards(self) -> list[Expr]:
        """The conditions for the body to run."""
        return [axis.guard for axis in self.axes if axis.guard is not None]


def draw_integer_func(source: Source, knobs: TirKnobs = INTEGERS) -> PrimProgram:
    """A well-formed PrimFunc of integer expressions, with exact arguments; some outputs, each defined everywhere."""
    draft = FunctionDraft(source, knobs)
    draft.index_dtype = source.pick(("int32", "int64"))
    if source.flip(draft.knobs.integers.axes.with_symbol):
        draft.index_dtype = "int64"
        value = source.pick((4, 5, 7, 8, 1, 3))
        draft.symbols["n"] = Symbol(
            tirx.Var("n", "int64"), value, parameter=source.flip(draft.knobs.integers.axes.symbol_parameter)
        )
        draft.features.add("symbolic")
    draft.features.add("integers")
    tables = _draw_tables(draft)
    earlier: list[tuple[int, int]] = []
    for _ in range(favour(source, 1, 2)):
        draft.statements.append(_draw_nest(draft, earlier))
    program = finished(draft, schedulable=False)
    named = {p.name: i for i, p in enumerate(program.parameters)}
    arguments = list(program.arguments)
    for tensor in tables:
        arguments[named[tensor.name]] = _counted_up(tensor)
    return replace(program, arguments=tuple(arguments))


def _draw_tables(draft: FunctionDraft) -> list[DraftTensor]:
    """Inputs that hold every value of a range: variables of which no pass knows the range."""
    source, tables = draft.source, []
    for name in draft.symbols:
        draft.add_tensor("A", (draft.symbolic(name),), "int32", Range(-8, 8, True), role="input")
    for _ in range(favour(source, 1, 2)):
        dtype = source.pick(("int32", draft.index_dtype, "int8", "int16", "uint8", "uint32"))
        count = weighted(source, draft.knobs.integers.axes.extents)
        low = 0 if dtype.startswith("u") else source.pick(draft.knobs.integers.axes.begins)
        values = Range(low, low + count - 1, True)
        tables.append(draft.add_tensor("V", (draft.extent(count),), dtype, values, role="input"))
    return tables


def _counted_up(table: DraftTensor) -> Array:
    return np.arange(table.range.low, table.range.high + 1).astype(numpy_dtype(table.dtype))


def _draw_nest(draft: FunctionDraft, earlier: list[tuple[int, int]]) -> Stmt:
    """Loops around the stores of some expressions. earlier: begins and extents of nests before, which are shared."""
    source = draft.source
    axes: list[IntegerAxis] = []
    for _ in range(favour(source, 2, 1, 3)):
        room = draft.knobs.max_elements
        for axis in axes:
            room //= max(axis.extent.high, 1)
        if room < 2:
            break
        axes += draw_axes(draft, earlier, room)
    variables = [axis.term for axis in axes]
    leaves = [
        *variables * draft.knobs.integers.axes.as_leaves,
        *(_table_value(draft, axes, t) for t in draft.tensors if t.role == "input"),
    ]
    if draft.symbols:
        leaves += [Term(s.var, "int64", Range(s.low, 16, True)) for s in draft.symbols.values()]
    nest = Nest(draft, tuple(axes), Operands(draft, [t for t in leaves if t is not None], []), [])
    _draw_names(nest)
    for _ in range(source.pick((2, 3, 1, 4))):
        nest.statements.append(_draw_output(nest))
    body = sequence(*nest.statements)
    for guard in nest.guards:
        body = tirx.IfThenElse(guard, body, None)
    for axis in reversed(axes):
        body = axis.around(body)
    return body


def _table_value(draft: FunctionDraft, axes: list[IntegerAxis], table: DraftTensor) -> Term | None:
    """An element of a table: at a variable of its length, else at an index brought into its bounds."""
    source, (dim,) = draft.source, table.dims
    points = [Point(axis.index, axis.extent) for axis in axes]
    same = [p for p in points if p.extent.text == dim.text]
    if same:
        return load(table, [source.pick(same).term.expr])
    if not dim.static:
        return None
    operands = Operands(draft, [], [axis.term for axis in axes], lets=False)
    index = source.pick(operands.indices)
    if source.flip(draft.knobs.integers.stores.computed_index):
        index = _number(replace(operands, leaves=operands.indices, indices=[]), draft.index_dtype)
        draft.features.add("computed_index")
    return load(table, [index_within(draft, dim, index, clamp=source.flip(draft.knobs.integers.stores.clamped))])


def _draw_names(nest: Nest) -> None:
    """Values for many expressions, named or repeated; and facts about a variable."""
    draft, source = nest.draft, nest.draft.source
    for _ in range(favour(source, 1, 0, 2)):
        dtype = weighted(source, draft.knobs.integers.stores.dtypes)
        value = _number(replace(nest.operands, lets=False), dtype) if dtype != "bool" else _condition(nest.operands)
        if source.flip(draft.knobs.integers.stores.named) and not nest.guards:
            var = tirx.Var(draft.new_name("x"), value.dtype)
            nest.statements.append(tirx.Bind(var, value.expr))
            draft.features.add("bind")
            value = Term(var, value.dtype, value.range)
        else:
            draft.features.add("repeated")
        nest.operands.leaves += [value, value]
    if source.flip(draft.knobs.integers.axes.said):
        term = source.pick(nest.axes).term
        nest.statements.append(_known(draft, tirx.GE(term.expr, constant(int(term.range.low), term.dtype).expr)))


def _known(draft: FunctionDraft, condition: Expr) -> Stmt:
    """A true condition as an assumption or an assertion."""
    if draft.source.flip():
        draft.features.add("assume")
        return tirx.Evaluate(tirx.assume(condition))
    draft.features.add("assert")
    kind, *message = (tvm.ir.StringImm(text) for text in ("RuntimeError", "a variable ", "is in range"))
    return tirx.AssertStmt(condition, kind, message)


def _draw_output(nest: Nest) -> Stmt:
    """One expression for every combination of the variables, in a new output; a quarter of them in a branch."""
    draft, source = nest.draft, nest.draft.source
    dtype = weighted(source, draft.knobs.integers.stores.dtypes)
    value = _value(nest.operands, dtype)
    if not source.flip(draft.knobs.integers.stores.branch):
        return _stored(nest, value.range, lambda buffer, at: tirx.BufferStore(buffer, value.expr, at), dtype)
    other = _value(nest.operands, dtype) if source.flip() else _small(nest.operands, dtype)
    condition = _condition(nest.operands).expr
    if source.flip(draft.knobs.integers.stores.likely):
        condition = tirx.likely(condition)
        draft.features.add("likely")
    before = source.flip()
    draft.features.add("if_then_else_statement")

    def branch(buffer: Buffer, at: list[Expr]) -> Stmt:
        then, otherwise = (tirx.BufferStore(buffer, t.expr, at) for t in (value, other))
        if before:
            return sequence(otherwise, tirx.IfThenElse(condition, then, None))
        return tirx.IfThenElse(condition, then, otherwise)

    return _stored(nest, value.range.hull(other.range), branch, dtype)


def _stored(nest: Nest, values: Range, make: Callable[[Buffer, list[Expr]], Stmt], dtype: str) -> Stmt:
    """The statement of `make` for a new output and the indices of an element: one element for each combination."""
    draft, source = nest.draft, nest.draft.source
    indices = [axis.index.expr for axis in nest.axes]
    dims = nest.dims
    for number, dim in enumerate(dims):
        if dim.static and source.flip(draft.knobs.integers.stores.reversed):
            indices[number] = tirx.Sub(draft.number(dim.value - 1), indices[number])
            draft.features.add("reversed")
    if all(d.static for d in dims) and source.flip(draft.knobs.integers.stores.flat):
        flat = indices[0]
        for dim, index in zip(dims[1:], indices[1:], strict=True):
            flat = tirx.Add(tirx.Mul(flat, dim.expr), index)
        count = 1
        for dim in dims:
            count *= dim.value
        indices, dims = [flat], (draft.extent(count),)
        draft.features.add("flat_output")
    output = draft.add_tensor("O", dims, dtype, values, role="output")
    return make(output.buffer, indices)


def _value(operands: Operands, dtype: str) -> Term:
    """An expression of the dtype."""
    if dtype == "bool":
        return _condition(operands)
    term = _number(operands, dtype)
    if operands.source.flip(operands.draft.knobs.integers.shapes.chosen):
        other = _small(operands, dtype)
        lazily = operands.source.flip()
        operands.draft.features.add("if_then_else" if lazily else "select")
        return chosen(_condition(operands).expr, term, other, lazily=lazily)
    return term


def _number(operands: Operands, dtype: str) -> Term:
    """A number: most often of a shape."""
    for _ in range(
        operands.draft.knobs.integers.shapes.tries
        if operands.source.flip(operands.draft.knobs.integers.shapes.shaped)
        else 0
    ):
        shapes = weighted(operands.source, NUMBERS)
        features = set(operands.draft.features)
        try:
            return operands.source.pick(shapes)(_parts(operands, dtype)).term
        except Unfit:
            operands.draft.features = features
    return draw_value(operands, dtype)


def _condition(operands: Operands) -> Term:
    """A truth: most often of a shape."""
    numbers = sorted({t.dtype for t in (*operands.leaves, *operands.indices) if t.dtype != "bool"})
    for _ in range(
        operands.draft.knobs.integers.shapes.tries
        if numbers and operands.source.flip(operands.draft.knobs.integers.shapes.shaped)
        else 0
    ):
        features = set(operands.draft.features)
        try:
            shapes = CONDITIONS if operands.source.flip(operands.draft.knobs.integers.shapes.comparison) else LOGIC
            return operands.source.pick(shapes)(_parts(operands, operands.source.pick(numbers)))
        except Unfit:
            operands.draft.features = features
    return draw_condition(replace(operands, lets=False), 2)


def _small(operands: Operands, dtype: str) -> Term:
    """A value in scope, or a constant."""
    return draw_leaf(operands, dtype)


def _parts(operands: Operands, dtype: str) -> Parts:
    """Operands and constants; an operand may stand twice in a shape, so that none names a value inside of it."""
    source = operands.source
    operands = replace(operands, lets=False)
    division = "floor" if source.flip(operands.draft.knobs.integers.shapes.floor) else "trunc"
    x, y, z = (IntegerTerm(_operand(operands, dtype), operands.draft, division) for _ in range(3))
    signed = not dtype.startswith("u")
    divisor, factor = (
        source.pick(operands.draft.knobs.integers.shapes.divisors),
        source.pick(operands.draft.knobs.integers.shapes.factors),
    )
    flags = [t for t in operands.leaves if t.dtype == "bool"]
    condition = source.pick(flags) if flags and source.flip() else _comparison(operands, [x, y, z])
    return Parts(
        x=x,
        y=y,
        z=z,
        c=-divisor if signed and source.flip(operands.draft.knobs.integers.shapes.negative_divisor) else divisor,
        k=factor if signed else abs(factor),
        e=_any_constant(operands, dtype),
        f=_any_constant(operands, dtype),
        s=source.integer(0, 4),
        how=source.pick(RELATIONS),
        also=source.pick(RELATIONS),
        condition=condition,
    )


def _comparison(operands: Operands, numbers: list[IntegerTerm]) -> Term:
    """A simple condition on operands of the shape."""
    a, b = operands.source.pick(numbers), operands.source.pick(numbers)
    value = operands.source.integer(-3, 9) if not a.term.dtype.startswith("u") else operands.source.integer(0, 9)
    return a.is_(
        operands.source.pick(RELATIONS),
        b if operands.source.flip(operands.draft.knobs.integers.shapes.compared_operand) else value,
    )


def _operand(operands: Operands, dtype: str) -> Term:
    """A variable in most cases, converted where none has the dtype, so that a rule sees the form that it matches."""
    source = operands.source
    if source.flip(operands.draft.knobs.integers.shapes.computed_operand):
        return draw_value(operands, dtype, 1)
    same = [t for t in operands.leaves if t.dtype == dtype]
    if same and source.flip(operands.draft.knobs.integers.shapes.same_dtype):
        return source.pick(same)
    return converted(operands, source.pick([t for t in operands.leaves if t.dtype != dtype] or same), dtype)


def _any_constant(operands: Operands, dtype: str) -> int:
    """A small number; in 8 % of the cases a large one."""
    source = operands.source
    value = source.integer(-9, 9)
    if source.flip(operands.draft.knobs.integers.shapes.large):
        value = source.pick(operands.draft.knobs.integers.shapes.large_constants)
    if not fits(Range(value, value, True), dtype):
        return abs(value) % 16
    return value
