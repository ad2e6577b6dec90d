"""Recipes of calls with several results of which the caller reads some: of private functions, and of kernels."""

from __future__ import annotations

from tvm import relax, te, tirx

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.functions import called, private
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import FLOAT, Scope
from generators.relax.tir_calls import TeFunction, call_of, kernel_of
from generators.relax.values import AnyValue, Dim, TupleValue, Value
from generators.source import Source, favour
from generators.unavailable import Unavailable


def _places(source: Source, count: int) -> list[int]:
    """Some of so many places, in any order: mostly rising."""
    chosen = [place for place in range(count) if source.flip(KNOBS.functions.result_read)]
    chosen = chosen or [source.integer(0, count - 1)]
    order = favour(source, "rising", "falling", "any")
    if order == "any":
        return sorted(chosen, key=lambda _: source.integer(0, 99))
    return chosen if order == "rising" else chosen[::-1]


def _read(s: Scope, whole: AnyValue | None, places: list[int]) -> None:
    """Reads the results at these places alone, which come out."""
    if not isinstance(whole, TupleValue):
        raise Unavailable("no tuple")
    s.values.remove(whole)
    fields = [b.tensor_item(s, whole, place) for place in places]
    if len(fields) > 1 and s.source.flip(KNOBS.functions.read_into_tuple):
        b.keep(s, b.tuple_of(s, *fields))
        return
    for field in fields:
        b.keep(s, b.unary(s, field) if field.dtype in FLOAT and s.source.flip() else field)


# --- private functions -----------------------------------------------------------------------------------


def private_unused_outputs(s: Scope) -> None:
    """A private function that returns three to five values, called twice or three times: each caller reads some."""
    count = s.source.integer(*KNOBS.functions.results)

    def build(inner: Scope) -> None:
        x = b.parameter(inner, inner.draw_dims((0, 2), static=True, nonempty=True))
        parts = [x, b.unary(inner, x)]
        for number in range(1, count + 1):
            b.keep(inner, _result(inner, inner.source.pick(parts), number))

    callee = private(s, build, count=0, kept_alone=True)
    for _ in range(s.source.integer(2, 3)):
        _read(s, called(s, callee), _places(s.source, count))


def _result(s: Scope, x: Value, number: int) -> Value:
    """A value that no other number gives: of the type of `x`, or of another one."""
    moved = b.call(s, relax.op.add(x.expr, b.literal(number, x.dtype)), x.range + Range(number, number, True))
    kind = favour(s.source, "plain", "largest", "one axis more", "wider")
    if kind == "largest":
        return b.call(s, relax.op.max(moved.expr), moved.range)
    if kind == "one axis more":
        return b.reshaped(s, moved, [*(moved.dims or ()), 1])
    if kind == "wider":
        return b.call(s, relax.op.astype(moved.expr, "float64"), moved.range)
    return moved


# --- kernels ---------------------------------------------------------------------------------------------


def kernel_unused_outputs(s: Scope) -> None:
    """A PrimFunc of two to five outputs, called once or twice; in most cases nothing reads the last one."""
    count = favour(s.source, 2, *range(KNOBS.functions.results[0], KNOBS.functions.results[1] + 1))
    x = s.tensor(("float32", "int32"), (1, 3), static=True, nonempty=True)
    body = _kernel(s.source, x, count)
    kernel = kernel_of(s, body)
    operands = [x]
    if s.source.flip():
        operands.append(s.like(x, low=x.range.low, high=x.range.high))
    for operand in operands:
        read = count - 1 if s.source.flip(KNOBS.functions.last_unread) else count
        _read(s, call_of(s, kernel, [operand], body), _places(s.source, read))


def _kernel(source: Source, x: Value, count: int) -> TeFunction:
    """Outputs made of the input, or of the output before: each of another number."""
    assert x.shape is not None and x.dims is not None
    tensors, outputs, ranges = (
        [te.placeholder(x.shape, x.dtype, name="A")],
        list[tuple[tuple[Dim, ...], str]](),
        [x.range],
    )
    for number in range(1, count + 1):
        near = [place for place, tensor in enumerate(tensors) if tensor.ndim == x.ndim]
        place = source.pick((near[0], near[-1]))
        make = favour(source, _plus, _sums)
        tensor, values = make(tensors[place], ranges[place], number)
        tensors.append(tensor)
        ranges.append(values)
        outputs.append((tuple(int(n) for n in tensor.shape), x.dtype))
    return TeFunction(tensors, outputs, tuple(ranges[1:]))


_Made = tuple[te.Tensor, Range]


def _plus(a: te.Tensor, values: Range, number: int) -> _Made:
    shift = tirx.const(number, a.dtype)
    return te.compute(a.shape, lambda *i: a(*i) + shift, name=f"plus{number}"), values + Range(number, number, True)


def _sums(a: te.Tensor, values: Range, number: int) -> _Made:
    """The sums of the rows, times a number."""
    factor = tirx.const(number, a.dtype)
    k = te.reduce_axis((0, a.shape[-1]), f"k{number}")
    made = te.compute(a.shape[:-1], lambda *i: te.sum(a(*i, k) * factor, axis=k), name=f"sums{number}")
    return made, values.scaled(number).summed(int(a.shape[-1]))


RECIPES = (
    Recipe("private_unused_outputs", private_unused_outputs, for_any=True),
    Recipe("kernel_unused_outputs", kernel_unused_outputs),
)
