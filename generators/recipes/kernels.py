"""Recipes for what runs and stores kernels: rows of them that a graph can hold, views of memory, scalar arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tvm import relax, te, tirx

from generators import tvm_api
from generators.dtypes import numpy_dtype
from generators.program_facts import Feature
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.calls_and_ifs import draw_impure
from generators.relax.entry_calls import LOWER_BOUNDS, UPPER_BOUNDS
from generators.relax.scope import Scope
from generators.relax.values import Dim, SymbolicDim, Value, extent
from generators.source import favour
from generators.tvm_api import Expr, GlobalVar, PrimFunc
from generators.unavailable import Unavailable

CAPTURED_SYMBOLS = "relax.rewrite_cuda_graph.capture_symbolic_vars"
"""The attribute that names the symbolic dims of inputs which RewriteCUDAGraph may capture."""


def _step(s: Scope, links: list[Value]) -> Value:
    """One more kernel on the last value, or on two of them; a reshape, which is none; or a larger or smaller value,
    for which the planner looks for another storage."""
    x = links[-1]
    kind = s.source.integer(0, 5)
    if kind == 0 and x.ndim > 0:
        return b.permuted(s, x, None)
    if kind == 1 and x.dims is not None:
        return b.reshaped(s, x, [*x.dims, 1])
    if kind == 2 and x.ndim > 0:
        return b.call(s, relax.op.max(x.expr, [0]), x.range)
    if kind == 3 and x.ndim < 3 and x.size <= 128:
        return b.call(s, relax.op.concat([x.expr, x.expr], 0), x.range) if x.ndim else b.unary(s, x)
    alike = [y for y in links if y.dims == x.dims and y.range.magnitude < 2**9]
    return b.add(s, x, s.source.pick(alike)) if alike and s.source.flip() else b.unary(s, x, b.SIMPLE_UNARY[:3])


def kernels_in_a_row(s: Scope) -> None:
    """Three to six kernels on values of static shape, possibly with what no graph holds between them."""
    x = b.tensor(s, (1, 3), static=True)
    links = [b.unary(s, x)]
    for _ in range(s.source.integer(2, 5)):
        links.append(_step(s, links))
        if not s.dataflow and s.source.flip(KNOBS.kernels.interrupted):
            draw_impure(s)
    first = [s.source.pick(links)] if s.source.flip(KNOBS.kernels.link_used_again) else []
    if s.source.flip(KNOBS.kernels.in_tuple):
        whole = b.tuple_of(s, links[-1], s.source.pick(links))
        links.append(b.unary(s, b.tensor_item(s, whole, s.source.integer(0, 1))))
    b.finish(s, *first, links[-1])


def kernels_of_weights(s: Scope) -> None:
    """Kernels on weights alone, which stay where they are, then some with an input."""
    dims = s.draw_dims((1, 2), static=True, nonempty=True)
    links = [b.unary(s, b.weight(s, dims), b.SIMPLE_UNARY[:3])]
    for _ in range(s.source.integer(1, 3)):
        links.append(_step(s, links))
    if links[-1].dims == dims and s.source.flip():
        links.append(b.add(s, links[-1], b.weight(s, dims)))
    late = b.add(s, links[-1], b.operand(s, links[-1].dims or ()))
    b.finish(s, links[-1], late)


def bounded(s: Scope, symbol: SymbolicDim, *, above: bool = True) -> None:
    """Says in the attributes of the function how small and large a symbol can be, or only that it is not negative."""
    attributes = s.frame.attributes
    value, name = symbol.extent, symbol.text
    if above:
        attributes[UPPER_BOUNDS] = {**attributes.get(UPPER_BOUNDS, {}), name: s.source.pick((value, 8, 16))}
    if s.source.flip(KNOBS.kernels.bounded_below):
        attributes[LOWER_BOUNDS] = {**attributes.get(LOWER_BOUNDS, {}), name: s.source.pick((0, 1, value))}
    elif s.source.flip(KNOBS.kernels.not_negative):
        attributes["tir_non_negative_var"] = [*attributes.get("tir_non_negative_var", []), name]


def kernels_of_symbols(s: Scope) -> None:
    """A row of kernels on a symbolic shape in storages as large as its bound, which a graph may hold by its symbol."""
    s.frame.symbolic = True
    n = s.frame.draw_symbol(s.source)
    dims: list[Dim] = s.source.pick(([n], [n, 3], [2, n]))
    x = b.parameter(s, dims, b.float_dtype(s))
    bounded(s, n, above=s.source.flip(KNOBS.kernels.bounded_above))
    if s.source.flip(KNOBS.kernels.symbol_captured):
        s.frame.attributes[CAPTURED_SYMBOLS] = [*s.frame.attributes.get(CAPTURED_SYMBOLS, []), n.text]
    links = [b.unary(s, x)]
    for _ in range(s.source.integer(2, 4)):
        links.append(b.unary(s, links[-1]) if s.source.flip() else b.add(s, links[-1], s.source.pick(links)))
        if links[-1].range.magnitude > 2**9:
            break
    b.finish(s, links[-1])


# --- views -----------------------------------------------------------------------------------------------------


_SAME_WIDTH = {"float32": "int32", "int32": "float32", "float64": "int64", "int64": "float64", "float16": "int16"}
"""A dtype of the same width: there and back, the bits are the numbers again."""


def memory_views(s: Scope) -> None:
    """A view of a computed value: other dims, a part of it that begins elsewhere, or other bits of the same width and
    back. Whatever a kernel gets begins at the first byte."""
    x = s.tensor(tuple(_SAME_WIDTH), (1, 3), static=True, nonempty=True)
    y = b.call(s, relax.op.negative(x.expr), -x.range)
    view = favour(s.source, _part, _as_other_dtype, _whole)(s, y)
    if s.source.flip(KNOBS.kernels.view_of_view):
        view = _whole(s, view)
    after = b.call(s, relax.op.negative(view.expr), -view.range) if s.source.flip() else view
    if y.dims == after.dims and s.source.flip(KNOBS.kernels.viewed_read_late):
        after = b.add(s, after, y)
    b.finish(s, y, after) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, after)


def _viewed(s: Scope, x: Value, dims: tuple[int, ...], offset: int | None = None) -> Value:
    call = relax.op.memory.view(x.expr, list(dims), x.dtype, offset)
    seen = b.call(s, call, x.range, exported=False if offset else None)
    if not offset and not s.source.flip(KNOBS.kernels.offset_ensured):
        return seen
    if offset and seen in s.values:
        s.values.remove(seen)
    return b.call(s, relax.op.memory.ensure_zero_offset(seen.expr), x.range)


def _whole(s: Scope, x: Value) -> Value:
    """The same bytes in other dims."""
    return _viewed(s, x, s.source.pick(((x.size,), (1, x.size), (x.size, 1), x.shape or ())))


def _part(s: Scope, x: Value) -> Value:
    """Some elements, from one of the first on. (A kernel asks for tensors at offset 0: `ensure_zero_offset`.)"""
    count = s.source.integer(1, max(1, x.size // 2))
    first = s.source.integer(min(1, x.size - count), x.size - count)
    return _viewed(s, x, (count,), first * numpy_dtype(x.dtype).itemsize)


def _as_other_dtype(s: Scope, x: Value) -> Value:
    """The bits as another dtype, which come out if they are whole numbers, and then as what they were."""
    other = _SAME_WIDTH.get(x.dtype)
    if other is None or x.dtype.startswith("int"):
        raise Unavailable("the bits of integers are numbers close to zero, or NaN")
    call = s.frame.module.builder.normalize(relax.op.memory.view(x.expr, None, other))
    limit = 2.0 ** (8 * numpy_dtype(other).itemsize - 1)
    bits = b.as_tensor(s.bind(call, Range(-limit, limit, True)))
    s.values.remove(bits)
    b.keep(s, bits)
    return b.call(s, relax.op.memory.view(bits.expr, None, x.dtype), x.range)


# --- scalar arguments of PrimFuncs -----------------------------------------------------------------------------


@cache
def _with_scalars(rank: int, dtype: str, factors: tuple[int, ...], place: int) -> PrimFunc:
    """A tensor of this rank plus numbers that are arguments, each times its factor. `place` of them come before the
    tensor."""
    numbers = [tirx.Var(f"number{n}", "int64") for n in range(len(factors))]
    shape = [tirx.Var(f"d{axis}", "int64") for axis in range(rank)]
    a = te.placeholder(shape, dtype, name="A")
    scaled = [tirx.Cast(dtype, n) * tirx.const(factor, dtype) for n, factor in zip(numbers, factors, strict=True)]
    out = te.compute(shape, lambda *i: sum(scaled, a(*i)), name="with_scalars")
    return te.create_prim_func([*numbers[:place], a, *numbers[place:], out]).without_attr("global_symbol")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that a kernel is given, and how large it may be."""

    expr: Expr
    most: int


@dataclass(frozen=True, slots=True)
class _ScalarKernel:
    """A kernel that adds numbers to a tensor, each times its factor; `place` of them come before the tensor."""

    name: GlobalVar
    factors: tuple[int, ...]
    place: int

    def on(self, s: Scope, x: Value, numbers: Sequence[_Number]) -> Value:
        """Binds a call."""
        given = [number.expr for number in numbers]
        operands = relax.Tuple([*given[: self.place], x.expr, *given[self.place :]])
        most = sum(abs(factor) * number.most for factor, number in zip(self.factors, numbers, strict=True))
        call = relax.op.call_tir(self.name, operands, tvm_api.type_of(x.expr))
        return b.call(s, call, x.range + Range(-most, most, True))


def _scalar_kernel(s: Scope, x: Value) -> _ScalarKernel:
    """A new kernel for tensors like this one; no two of its numbers have one factor: exchanged ones show."""
    factors = tuple([s.source.pick((1, -1)) * (number + 1) for number in range(favour(s.source, 1, 2, 3))])
    place = s.source.integer(0, len(factors)) if s.source.flip(KNOBS.kernels.scalars_first) else 0
    module = s.frame.module
    name = module.add(module.new_name("prim"), _with_scalars(x.ndim, x.dtype, factors, place))
    return _ScalarKernel(name, factors, place)


def _number(s: Scope, n: SymbolicDim | None) -> _Number:
    """A literal, a symbolic dim, or an expression of one."""
    if n is not None and s.source.flip(KNOBS.kernels.scalar_of_symbol):
        return _Number(s.source.pick((n.expr, n.expr + 1, n.expr * 2, n.expr * 2 - 1)), 2 * extent(n) + 1)
    value = s.source.integer(0, 5)
    return _Number(tirx.IntImm("int64", value), value)


def call_tir_scalars(s: Scope) -> None:
    """Calls of PrimFuncs on a tensor and one to three numbers; a PrimFunc may be called again, with some of the numbers
    as before."""
    symbolic = s.source.flip(KNOBS.kernels.scalar_of_symbol)
    s.frame.symbolic = s.frame.symbolic or symbolic
    n = s.frame.draw_symbol(s.source) if symbolic else None
    x = b.parameter(s, [n, 2]) if n is not None else b.tensor(s, (1, 3), static=True)
    out = b.unary(s, x, b.SIMPLE_UNARY[:3])
    kernel, numbers = None, list[_Number]()
    for _ in range(s.source.integer(1, 3)):
        if kernel is not None and s.source.flip(KNOBS.kernels.scalars_again):
            numbers = [one if s.source.flip() else _number(s, n) for one in numbers]
        else:
            kernel = _scalar_kernel(s, out)
            numbers = [_number(s, n) for _ in kernel.factors]
        out = kernel.on(s, out, numbers)
        out = b.unary(s, out, b.SIMPLE_UNARY[:3]) if s.source.flip() else out
    b.finish(s, out)


RECIPES = (
    Recipe("kernels_in_a_row", kernels_in_a_row),
    Recipe("kernels_of_weights", kernels_of_weights, wants=Feature.NUM_INPUT),
    Recipe("kernels_of_symbols", kernels_of_symbols),
    Recipe("memory_views", memory_views),
    Recipe("call_tir_scalars", call_tir_scalars),
)
