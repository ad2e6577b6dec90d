"""Recipes of bindings: aliases, dead and duplicate values, tuples, If, impure calls, match_cast, constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.body import close_block
from generators.relax.calls_and_ifs import draw_extern, draw_impure
from generators.relax.scope import Drawn, Scope
from generators.relax.values import AnyValue, Dim, TupleValue, Value, dim_expr
from generators.source import favour
from generators.tvm_api import Expr
from generators.unavailable import Unavailable


def trivial_bindings(s: Scope) -> None:
    """z = a, of a computed value, a parameter or another alias; the names used side by side and returned."""
    x: Any = b.unary(s, b.tensor(s)) if s.source.flip(KNOBS.bindings.alias_of_computed) else b.tensor(s)
    names = [x]
    for _ in range(s.source.integer(1, 3)):
        names.append(b.alias(s, s.source.pick(names), exported=s.source.flip()))
    used = b.add(s, s.source.pick(names), s.source.pick(names))
    b.finish(s, names[-1], used)
    if s.source.flip(KNOBS.bindings.alias_returned):
        b.keep(s, s.source.pick(names))


def dead_bindings(s: Scope) -> None:
    """A chain that nothing uses, calls of constants and aliases among it, and another value that is used."""
    x = b.tensor(s)
    live = b.unary(s, x)
    dead = b.binary(s, x, live) if live.range.magnitude < 2**9 else b.unary(s, x)
    for _ in range(s.source.integer(0, 2)):
        dead = b.reuse(s, dead)
    s.values.remove(dead)
    b.finish(s, live)


def duplicate_subexpressions(s: Scope) -> None:
    """The same call twice or three times, directly, under aliases of its operands, or in a chain; all are used."""
    x = b.tensor(s)
    build, values = s.source.pick(b.SIMPLE_UNARY)
    operands: list[Any] = [x, x if s.source.flip(KNOBS.bindings.same_name) else b.alias(s, x)]
    if s.source.flip(KNOBS.bindings.third_call):
        operands.append(x)
    same = [b.call(s, build(o.expr), values(x.range)) for o in operands]
    if s.source.flip(KNOBS.bindings.longer_duplicates):
        same = [b.add(s, v, x) for v in same]
    joined = b.add(s, same[0], same[1])
    b.finish(s, *same[1:], joined) if s.source.flip(KNOBS.bindings.duplicates_returned) else b.finish(s, joined)


def tuple_bound(s: Scope) -> None:
    """A tuple of computed values bound to a name, items of it, a split, and a use of both item and whole."""
    x = b.unary(s, b.tensor(s))
    y = b.unary(s, b.tensor(s, dtype=x.dtype))
    whole: Any = b.tuple_of(s, x, y) if s.source.flip(KNOBS.bindings.tuple_written) else _split(s, x)
    items = [b.tensor_item(s, whole, s.source.integer(0, 1)) for _ in range(s.source.integer(1, 2))]
    held = isinstance(whole, TupleValue) and s.source.flip(KNOBS.bindings.field_used)
    after = b.unary(s, x if held else items[0])
    if s.source.flip(KNOBS.bindings.tuple_returned):
        b.keep(s, whole)
    b.finish(s, *items[1:], after)


def _split(s: Scope, x: Value) -> AnyValue | None:
    assert x.dims is not None
    axes = [a for a, n in enumerate(x.dims) if isinstance(n, int) and n >= 2 and n % 2 == 0]
    if not axes:
        return b.tuple_of(s, x, x)
    return s.emit(Drawn(relax.op.split(x.expr, 2, s.source.pick(axes)), x.range))


def tuple_nested(s: Scope) -> None:
    """A tuple in a tuple: items of items, the inner one shared, the whole returned in half of the cases."""
    x, y = b.unary(s, b.tensor(s)), b.tensor(s)
    inner = b.tuple_of(s, x, y)
    outer = b.tuple_of(s, inner, x) if s.source.flip(KNOBS.bindings.tuple_item_once) else b.tuple_of(s, inner, inner)
    again = b.item(s, outer, 0)
    value = b.tensor_item(s, again, s.source.integer(0, 1))
    if s.source.flip():
        b.keep(s, s.source.pick((outer, again, inner)))
    b.finish(s, b.unary(s, value) if value.dtype.startswith("float") else value)


def bindings_outside_dataflow(s: Scope) -> None:
    """Pure calls in a block that is no dataflow block, possibly with an impure one among them."""
    x = b.unary(s, b.tensor(s))
    if s.source.flip(KNOBS.bindings.impure_among_pure):
        draw_impure(s)
    y = b.add(s, x, b.unary(s, x))
    b.finish(s, b.unary(s, y) if s.source.flip() else y)


def branch(s: Scope, build: Callable[[Scope], Value]) -> tuple[Expr, Value]:
    """A branch of an If: the bindings that `build` makes in an inner scope, and their result."""
    inner = Scope(s.source, s.frame, outer=s)
    inner.dataflow = s.source.flip(KNOBS.bindings.branch_dataflow)
    value = build(inner)
    if value.dataflow or not isinstance(value.expr, relax.Var) or not inner.bindings:
        value = b.as_tensor(b.alias(inner, value, exported=True))
    return relax.SeqExpr(close_block(inner), value.expr), value


def condition(s: Scope, x: Value) -> Expr:
    """A scalar bool: a parameter, or a comparison of values."""
    if s.source.flip() or x.size == 0:
        return s.tensor(("bool",), dims=()).expr
    largest = b.call(s, relax.op.max(x.expr), x.range)
    least = b.call(s, relax.op.min(x.expr), x.range)
    if x.dtype == "bool" or s.source.flip(KNOBS.bindings.spread_compared):
        return b.call(s, relax.op.greater(largest.expr, least.expr), Range(0, 1, True)).expr
    middle = b.literal(float(round((x.range.low + x.range.high) / 2)), x.dtype)
    return b.call(s, relax.op.greater(s.source.pick((largest, least)).expr, middle), Range(0, 1, True)).expr


def either(s: Scope, test: Expr, one: Callable[[Scope], Value], two: Callable[[Scope], Value]) -> Value:
    """The value of an If whose branches `one` and `two` build tensors of one type."""
    (then, a), (other, c) = branch(s, one), branch(s, two)
    expr = s.frame.module.builder.normalize(relax.If(tvm_api.argument(test), then, other))
    return b.as_tensor(s.bind(expr, a.range.hull(c.range)))


def if_branches(s: Scope) -> None:
    """An If whose branches hold several calls, share a subexpression with each other or with the outside."""
    x = b.tensor(s, (0, 3))
    shared = b.unary(s, x)
    test = condition(s, x)
    table = (s.source.pick(b.SIMPLE_UNARY),)

    def build(inner: Scope) -> Value:
        if not inner.dataflow and inner.source.flip(KNOBS.bindings.branch_effect):
            draw_impure(inner)
        value = b.unary(inner, x, table) if inner.source.flip(KNOBS.bindings.branch_computes) else shared
        for _ in range(inner.source.integer(0, 2)):
            value = b.unary(inner, value) if inner.source.flip() else b.add(inner, value, shared)
        return value

    out = either(s, test, build, build)
    known = out.dims is not None and out.dims == x.dims
    b.finish(s, shared, b.add(s, out, shared) if known and s.source.flip(KNOBS.bindings.if_result_added) else out)


def twin_branches(s: Scope) -> None:
    """An If whose branches do the same, with the same values or with others of their types."""
    x = b.tensor(s, (0, 3))
    y = b.parameter(s, x.dims or (), x.dtype)
    same = s.source.flip(KNOBS.bindings.branches_alike)
    tables = [(s.source.pick(b.SIMPLE_UNARY),) for _ in range(s.source.integer(0, 2))]
    joins = s.source.flip() or not tables

    def build(first: Value, second: Value) -> Callable[[Scope], Value]:
        def made(inner: Scope) -> Value:
            value = b.binary(inner, first, second, b.RING[1:2]) if joins else first
            for table in tables:
                value = b.unary(inner, value, table)
            return value

        return made

    test = condition(s, x)
    others = (x, y) if same else s.source.pick(((y, x), (y, y), (x, x)) if joins else ((y, x),))
    b.finish(s, either(s, test, build(x, y), build(*others)))


def impure_calls(s: Scope) -> None:
    """Prints and assertions between pure calls, of which some are used by nothing else."""
    x = b.unary(s, b.tensor(s))
    draw_impure(s)
    y = b.unary(s, x)
    if s.source.flip():
        draw_impure(s)
    b.finish(s, y)


def pure_packed_calls(s: Scope) -> None:
    """Pure calls of packed functions between operators."""
    b.unary(s, b.tensor(s))
    before = len(s.values)
    for _ in range(s.source.integer(1, 2)):
        draw_extern(s)
    b.finish(s, *[v for v in s.values[before:] if isinstance(v, Value)][-2:])


def cast_to(s: Scope, x: Value, dims: tuple[Dim, ...] | None) -> Value:
    """match_cast of `x` to a type with these dims, or to one that hides them."""
    exprs = None if dims is None else [dim_expr(d) for d in dims]
    ty = tvm_api.tensor_type(exprs, x.dtype, x.ndim)
    local = s.dataflow and not s.source.flip(s.knobs.output_share)
    var = s.frame.new_var(ty, dataflow=local, stem="m")
    s.bindings.append(relax.MatchCast(var, x.expr, ty))
    value = Value(var, dims, x.shape, x.dtype, x.range, local)
    s.values.append(value)
    return value


def match_cast_redundant(s: Scope) -> None:
    """match_cast to the type the value has, chained, and of a value that is used under both names."""
    x = b.unary(s, b.tensor(s))
    y = cast_to(s, x, x.dims)
    if s.source.flip(KNOBS.bindings.cast_again):
        y = cast_to(s, y, x.dims)
    z = b.add(s, y, x)
    b.finish(s, y, z) if s.source.flip() else b.finish(s, z)


def match_cast_beside(s: Scope) -> None:
    """Values of an unknown or known shape that are cast, each used beside its cast: in calls, in a tuple, returned."""
    x = b.tensor(s, (1, 4), static=True)
    hidden = cast_to(s, x, None)
    assert x.shape is not None
    value = cast_to(s, hidden, tuple(x.shape)) if s.source.flip() else cast_to(s, b.unary(s, x), x.dims)
    outs = [b.add(s, value, x), b.unary(s, hidden)]
    if s.source.flip(KNOBS.bindings.cast_in_tuple):
        whole = b.tuple_of(s, value, x)
        outs.append(b.as_tensor(b.unary(s, b.tensor_item(s, whole, s.source.integer(0, 1)))))
    for out in (hidden, value) if s.source.flip() else (hidden,):
        b.keep(s, out)
    b.finish(s, *outs)


def match_cast_defines_symbol(s: Scope) -> None:
    """A symbol that a match_cast defines, in the calls, casts and reshapes after it and in the result's type. In some
    nothing reads the cast value, and the symbol is needed all the same."""
    if not s.frame.symbolic:
        s.frame.symbolic = True
    x = b.tensor(s, (1, 3))
    if s.source.flip(KNOBS.bindings.cast_from_hidden):
        x = cast_to(s, x, None)
    assert x.shape is not None
    which = s.source.integer(0, x.ndim - 1)
    dims = tuple(
        s.new_late_symbol(n) if a == which or (x.dims is None and s.source.flip()) else x.dims[a] if x.dims else n
        for a, n in enumerate(x.shape)
    )
    y = cast_to(s, x, dims)
    if s.source.flip(KNOBS.bindings.cast_unread):
        s.values.remove(y)
        filled = relax.op.full(s.shape_expr(dims), b.literal(2.0, "float32"), "float32")
        b.finish(s, b.unary(s, b.call(s, filled, Range(2, 2, True))))
        return
    z = b.unary(s, y)
    if s.source.flip(KNOBS.bindings.cast_reshaped):
        z = b.reshaped(s, z, [*dims, 1])
    elif s.source.flip(KNOBS.shared.cast_added):
        z = b.add(s, z, y)
    if s.source.flip(KNOBS.bindings.cast_to_numbers):
        z = cast_to(s, z, tuple(n for n in (z.shape or ())))
    b.finish(s, y, z) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, z)


def constant_operands(s: Scope) -> None:
    """Operators on a value and constants: whole, scalar, broadcast, the same one twice, one equal in content."""
    x = b.tensor(s, (1, 3), static=True)
    dims = favour(s.source, x.dims or (), (), (1,))
    c = b.constant(s, dims, x.dtype)
    y = b.binary(s, x, c, b.RING[:3])
    if s.source.flip():
        y = b.multiply(s, y, c if s.source.flip() else b.constant(s, dims, x.dtype))
    b.finish(s, b.relu(s, y) if s.source.flip() else y)


def constant_subexpressions(s: Scope) -> None:
    """A value computed from constants alone, joined with one that is not, and possibly returned by itself."""
    dims = s.draw_dims((0, 3), static=True, nonempty=True)
    dtype = favour(s.source, "float32", "int32", "bool")
    one, two = b.constant(s, dims, dtype), b.constant(s, dims, dtype)
    if dtype == "bool":
        folded = b.call(s, relax.op.logical_and(one.expr, two.expr), Range(0, 1, True))
        b.finish(s, folded)
        return
    folded = b.binary(s, one, two, b.RING[:3])
    if s.source.flip():
        folded = b.permuted(s, folded, None) if s.source.flip() else b.binary(s, folded, one, b.RING[:2])
    if folded.dims is None:
        raise Unavailable("a constant of unknown shape")
    out = b.add(s, s.like(folded), folded)
    b.finish(s, folded, out) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, out)


def duplicate_constants(s: Scope) -> None:
    """The same call on constants of one shape, scalars too: other content, equal content, or the very same constant."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)
    x = b.operand(s, dims)
    dims = dims if s.source.flip(KNOBS.bindings.whole_constants) else favour(s.source, (1,), ())
    first = b.constant(s, dims)
    kinds = s.source.pick((("other",), ("other", "equal"), ("equal",), ("same",)))
    makers: dict[str, Callable[[], Value]] = {
        "other": lambda: b.constant(s, dims),
        "equal": lambda: _equal(s, first),
        "same": lambda: first,
    }
    constants = [first, *(makers[kind]() for kind in kinds)]
    build = s.source.pick((relax.op.add, relax.op.maximum))
    outs = [b.call(s, build(x.expr, c.expr), x.range + c.range.including(0)) for c in constants]
    b.finish(s, *outs, b.binary(s, outs[0], outs[1], b.RING[1:2]))


def _equal(s: Scope, value: Value) -> Value:
    """Another constant object with the same contents."""
    array = np.array(tvm_api.constant_array(value.expr))
    twin = Value(tvm_api.constant(array, value.dtype), value.dims, value.shape, value.dtype, value.range)
    s.values.append(twin)
    return twin


RECIPES = (
    Recipe("trivial_bindings", trivial_bindings),
    Recipe("dead_bindings", dead_bindings),
    Recipe("duplicate_subexpressions", duplicate_subexpressions),
    Recipe("tuple_bound", tuple_bound),
    Recipe("tuple_nested", tuple_nested),
    Recipe("bindings_outside_dataflow", bindings_outside_dataflow, plain=True),
    Recipe("if_branches", if_branches, plain=True),
    Recipe("twin_branches", twin_branches, plain=True),
    Recipe("impure_calls", impure_calls, plain=True),
    Recipe("pure_packed_calls", pure_packed_calls),
    Recipe("match_cast_redundant", match_cast_redundant),
    Recipe("match_cast_beside", match_cast_beside),
    Recipe("match_cast_defines_symbol", match_cast_defines_symbol),
    Recipe("constant_operands", constant_operands),
    Recipe("constant_subexpressions", constant_subexpressions),
    Recipe("duplicate_constants", duplicate_constants),
)
