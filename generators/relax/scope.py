"""The scope that operator rows and statements draw from: operands, attributes, fresh values, emission.

A Scope is one list of bindings under construction with the values visible at its end. It knows which values
exist and how to make more; it does not decide which statement comes next (see `generators.relax.body`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators import tvm_api
from generators.arrays import draw_array
from generators.dtypes import is_float
from generators.ranges import NARROW, TRUTH, Range, Ranges, comfortable, ends_of
from generators.relax.frames import FunctionFrame
from generators.relax.knobs import LARGE, REAL, SPECIAL, WHOLE
from generators.relax.values import (
    AnyValue,
    Dim,
    Link,
    SymbolicDim,
    TupleValue,
    Value,
    broadcast,
    dim_expr,
    extent,
    keeps_integers,
    ranges_of,
    value_of,
)
from generators.source import Source, weighted
from generators.tvm_api import Binding, Expr, Var
from generators.unavailable import Unavailable

ANY_RANK = (0, 5)
NUMERIC = ("float32", "float16", "float64", "bfloat16", "int32", "int64", "int8", "int16", "uint8")
FLOAT = ("float32", "float16", "float64", "bfloat16")
INTEGER = ("int32", "int64", "int8", "int16", "uint8")
INDEX = ("int64", "int32")
EVERY = (*NUMERIC, "bool")


@dataclass(frozen=True, slots=True)
class Drawn:
    """An un-normalised call with the range of its result (one per field where it gives a tuple).

    `shape` is the run-time shape, for results whose shape the IR does not tell.
    """

    call: Expr
    range: Ranges
    shape: tuple[int, ...] | None = None


class Scope:
    """Values in scope and the bindings made so far; `frame` is the function they belong to."""

    def __init__(self, source: Source, frame: FunctionFrame, outer: Scope | None = None) -> None:
        self.source = source
        self.frame = frame
        self.knobs = frame.module.knobs
        self.values: list[AnyValue] = list(outer.values) if outer else []
        self.bindings: list[Binding] = []
        self.dataflow = False
        self.depth: int = outer.depth + 1 if outer else 0
        self.late: set[str] = set(outer.late) if outer else set()
        """Names of the symbols that a match_cast in sight has defined."""
        self.used: set[Var] = set()
        """Variables that the bindings of closed blocks read."""
        self.put_off: list[tuple[str, Callable[[Scope], None]]] = []
        """Draws to make, by name, as soon as the block is closed."""
        self.leading: list[Value] = []
        """Values that the next operands should be, if they fit."""
        self.link = Link()
        """What an operator of a chain stands beside."""

    # --- operands ---------------------------------------------------------------------------------------

    def tensor(
        self,
        dtypes: Sequence[str] = NUMERIC,
        ranks: tuple[int, int] = ANY_RANK,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        dims: Sequence[Dim] | None = None,
        static: bool = False,
        nonempty: bool = False,
        minimum: Sequence[int] | None = None,
    ) -> Value:
        """A tensor in scope, or a new one, with these properties.

        ranks are inclusive; [low, high] bounds every element; dims asks for exactly these dims (and
        overrides ranks); static for numbers only as dims; nonempty for no zero extent; minimum gives the
        least extent per axis, aligned at the last. Raises Unavailable where none can be made.
        """

        def fits(value: Value) -> bool:
            if value.dtype not in dtypes or value.dims is None:
                return False
            if dims is not None:
                shape_fits = value.dims == tuple(dims)
            else:
                shape_fits = ranks[0] <= len(value.dims) <= ranks[1]
            return (
                shape_fits
                and not (static and not value.static)
                and not (nonempty and value.size == 0)
                and (minimum is None or value.at_least(minimum))
            )

        for place, value in enumerate(self.leading):
            if fits(value) and value.range.within(low, high) and self.source.flip(self.knobs.operands.leading_first):
                return self.leading.pop(place)  # else it may be a later operand
        near = [v for v in self.values if isinstance(v, Value) and fits(v)]
        if near and not self.source.flip(self.knobs.fresh_share):
            chosen = self._prefer_recent(near)
            if chosen.range.within(low, high):
                return chosen
            if self.source.flip(self.knobs.guard_share):
                return self.clipped(chosen, low, high)
            inside = [v for v in near if v.range.within(low, high)]
            if inside:
                return self._prefer_recent(inside)
        dtype = self._draw_dtype(dtypes)
        if dims is None:
            dims = self.draw_dims(ranks, static=static, nonempty=nonempty, minimum=minimum)
        return self.fresh(tuple(dims), dtype, self.draw_range(dtype, low, high))

    def like(
        self, value: Value, dtypes: Sequence[str] | None = None, low: float = -math.inf, high: float = math.inf
    ) -> Value:
        """A tensor with the dims of `value` (and its dtype unless others are given), in [low, high]."""
        assert value.dims is not None
        return self.tensor(dtypes or (value.dtype,), dims=value.dims, low=low, high=high)

    def broadcastable(
        self,
        value: Value,
        low: float = -math.inf,
        high: float = math.inf,
        dtypes: Sequence[str] | None = None,
    ) -> Value:
        """A tensor that broadcasts with `value` under NumPy's rules, that of a chain where it does; the common shape
        may be larger."""
        assert value.dims is not None
        for led in self.leading:
            if led.dims is not None and broadcast(led.dims, value.dims):
                return self.tensor(dtypes or (value.dtype,), dims=led.dims, low=low, high=high)
        if self.source.flip(self.knobs.operands.same_shape):
            return self.like(value, dtypes, low, high)
        dims: list[Dim] = [1 if self.source.flip(self.knobs.operands.dim_of_one) else d for d in value.dims]
        if dims and self.source.flip(self.knobs.operands.fewer_dims):
            dims = dims[self.source.integer(1, len(dims)) :]
        if value.ndim < 5 and self.source.flip(self.knobs.operands.more_dims):
            dims = [self.draw_extent(), *([1] * (value.ndim - len(dims))), *dims]
        return self.tensor(dtypes or (value.dtype,), dims=dims, low=low, high=high)

    def indices(self, dims: Sequence[Dim], bound: int, low: int = 0, dtypes: Sequence[str] = INDEX) -> Value:
        """An integer tensor with these dims whose elements are in [low, bound). Unavailable if that is empty."""
        if bound <= low:
            raise Unavailable("no valid index")
        return self.tensor(dtypes, dims=dims, low=low, high=bound - 1)

    def any_tensor(self, dtypes: Sequence[str] = EVERY) -> Value:
        """Any tensor, also of a shape that the IR does not know (operators must take every shape)."""
        hidden = [v for v in self.values if isinstance(v, Value) and not v.known and v.dtype in dtypes]
        if hidden and self.source.flip():
            return self.source.pick(hidden)
        return self.tensor(dtypes)

    def clipped(self, value: Value, low: float, high: float) -> Value:
        """`value` clipped into [low, high] by an R.clip in the program. Unavailable for bool."""
        low = max(low, 0) if value.dtype.startswith("u") else low  # an end must be a number of the dtype
        if value.dtype == "bool" or not value.known or low > high:
            raise Unavailable("cannot clip")
        least = low if math.isfinite(low) else min(value.range.low, high)
        most = high if math.isfinite(high) else max(value.range.high, low)
        whole = not is_float(value.dtype)
        ends = (math.ceil(least), math.floor(most)) if whole else (float(least), float(most))
        call = tvm_api.relax.op.clip(value.expr, *ends)
        return self.emit_tensor(Drawn(call, value.range.clipped(*ends)))

    def _prefer_recent(self, values: Sequence[Value]) -> Value:
        """Half of the time among the last three, so that chains form; else any, so that values are reused.

        A value that depends on no input is rarely taken again: FoldConstant compiles each call of it, and it says
        little about other passes.
        """
        if not self.source.flip(self.knobs.constant_share):
            values = [v for v in values if not self.frame.is_fixed(v.expr)] or values
        return self.source.pick(values[-3:] if self.source.flip() else values)

    # --- new values -------------------------------------------------------------------------------------

    def fresh(self, dims: tuple[Dim, ...], dtype: str, values: Range) -> Value:
        """A new parameter or constant with these dims, dtype and contents."""
        static = all(isinstance(d, int) for d in dims)
        if static and (not self.frame.open or not self.source.flip(self.knobs.parameter_share)):
            return self.constant(dims, dtype, values)
        if not self.frame.open or not all(self.frame.may_annotate(d) for d in dims):
            raise Unavailable("no parameter with these dims can be made here")
        value = self.frame.add_parameter(dims, dtype, values)
        self.values.append(value)
        return value

    def constant(self, dims: Sequence[Dim], dtype: str, values: Range) -> Value:
        """A new constant with static dims."""
        shape = tuple(extent(d) for d in dims)
        self.check_size(shape)
        special = [v for v in SPECIAL if values.low <= v <= values.high]
        if special and self.source.flip(self.knobs.special_share):
            one = self.source.pick(special)
            values = Range(one, one, True)
        seed = self.source.array_seed()
        literal = tvm_api.constant(draw_array(seed, shape, dtype, values), dtype)
        self.frame.module.constants.append((literal, seed))
        value = Value(literal, shape, shape, dtype, values)
        self.values.append(value)
        return value

    def scalar(self, dtype: str, low: float = -math.inf, high: float = math.inf) -> Value:
        """A rank-0 tensor."""
        return self.tensor((dtype,), (0, 0), low, high)

    def draw_range(self, dtype: str, low: float = -math.inf, high: float = math.inf) -> Range:
        """Contents for a new value inside [low, high]: small whole numbers, or real ones (`real_share`)."""
        if dtype == "bool":
            return TRUTH
        real = is_float(dtype) and self.source.flip(self.knobs.real_share)
        usual = REAL if real else (Range(0, 4, True) if dtype.startswith("u") else WHOLE)
        if not is_float(dtype) and self.source.flip(self.knobs.large_share):
            usual = LARGE.clipped(0, LARGE.high) if dtype.startswith("u") else LARGE
        if dtype in NARROW and self.source.flip(self.knobs.ends_share):
            near = self.source.pick(ends_of(dtype))
            if near.within(low, high):
                return near
        span = usual.high - usual.low
        least = usual.low if usual.within(low, high) else max(low, min(usual.low, high - span))
        most = min(high, least + span)
        if not real and math.floor(most) < math.ceil(least):
            if not is_float(dtype):
                raise Unavailable("no integer in range")
            return Range(least, most)
        return Range(least, most) if real else Range(math.ceil(least), math.floor(most), True)

    def draw_extent(self, minimum: int = 0) -> int:
        """One static extent of at least `minimum`."""
        return max(minimum, weighted(self.source, self.knobs.extents))

    def draw_dims(
        self,
        ranks: tuple[int, int] = ANY_RANK,
        *,
        static: bool = False,
        nonempty: bool = False,
        minimum: Sequence[int] | None = None,
    ) -> tuple[Dim, ...]:
        """Dims of a new tensor within the knobs' size limit."""
        options = [(r, w) for r, w in self.knobs.ranks if ranks[0] <= r <= ranks[1]]
        rank = weighted(self.source, options) if options else ranks[0]
        least = [1 if nonempty else 0] * rank
        if minimum is not None:
            for axis, n in zip(range(rank - 1, -1, -1), reversed(minimum), strict=False):
                least[axis] = max(least[axis], n)
        dims: list[Dim] = []
        square = rank > 1 and minimum is None and self.source.flip(self.knobs.operands.square)
        room = self.knobs.max_elements
        for place, n in enumerate(least, 1):
            dim = dims[0] if square and dims else self.draw_dim(n, static)
            most = room >> (rank - place)  # the axes to come may have two elements each
            if extent(dim) > max(most, 1):
                dim = max(n, min(most, 2), 1)
            room //= max(extent(dim), 1)
            dims.append(dim)
        return tuple(dims)

    def draw_dim(self, minimum: int = 0, static: bool = False) -> Dim:
        """One dim of at least `minimum` in the first entry call; it may be symbolic where that is allowed."""
        if not static and self.frame.symbolic and self.source.flip(self.knobs.symbolic_share):
            symbol = self.frame.draw_symbol(self.source)
            if symbol.extent >= minimum:
                return symbol
        return self.draw_extent(minimum)

    def _draw_dtype(self, dtypes: Sequence[str]) -> str:
        options = [(d, w) for d, w in self.knobs.dtypes if d in dtypes]
        return weighted(self.source, options) if options else self.source.pick(dtypes)

    # --- attributes -------------------------------------------------------------------------------------

    def axis(self, value: Value) -> int:
        """An axis of `value`, negative half of the time. Unavailable for rank 0."""
        if value.ndim == 0:
            raise Unavailable("rank 0 has no axis")
        changed = [axis for axis in self.link.changed if axis < value.ndim]
        again = changed and self.source.flip(self.knobs.operands.changed_axis)
        axis = self.source.pick(changed) if again else self.source.integer(0, value.ndim - 1)
        return axis - value.ndim if self.source.flip() else axis

    def axes(self, value: Value) -> list[int] | int | None:
        """Axes for a reduction: absent, one number, or a list without repetition, any of them negative."""
        if value.ndim == 0 or self.source.flip(self.knobs.operands.all_axes):
            return None
        if self.source.flip():
            return self.axis(value)
        chosen = [a for a in range(value.ndim) if self.source.flip()] or [value.ndim - 1]
        return [a - value.ndim if self.source.flip(self.knobs.operands.negative_axis) else a for a in chosen]

    def permutation(self, rank: int) -> list[int]:
        """A permutation of range(rank), possibly the identity, possibly with negative entries."""
        order = list(range(rank))
        if not self.source.flip(self.knobs.operands.identity):
            for i in range(rank - 1, 0, -1):
                j = self.source.integer(0, i)
                order[i], order[j] = order[j], order[i]
        return [a - rank if self.source.flip(self.knobs.operands.negative_entry) else a for a in order]

    # --- emission ---------------------------------------------------------------------------------------

    def emit(self, drawn: Drawn, *, exported: bool | None = None) -> AnyValue | None:
        """Normalises and binds a drawn call; the bound value, or None where its type is of no use.

        `exported` says whether the value is visible after its block; None leaves it to chance.
        Raises Unavailable, binding nothing, when the result would be too large in size or in magnitude.
        """
        call = self.frame.module.builder.normalize(drawn.call)
        ty = tvm_api.type_of(call)
        probe = value_of(None, ty, drawn.range, self.frame.symbols, shape=drawn.shape)
        if probe is not None:
            self._check(probe, call)
        return self.bind(call, drawn.range, drawn.shape, exported=exported)

    def emit_tensor(self, drawn: Drawn, *, exported: bool | None = None) -> Value:
        """`emit` for calls that give one tensor."""
        value = self.emit(drawn, exported=exported)
        if not isinstance(value, Value):
            raise Unavailable("the result is no tensor")
        return value

    def bind(
        self,
        expr: Expr,
        ranges: Ranges,
        shape: tuple[int, ...] | None = None,
        *,
        exported: bool | None = None,
    ) -> AnyValue | None:
        """Binds a normalised expression to a new variable of its own type.

        Shape values are always visible outside their block: types may depend on them, and a type may not
        depend on a dataflow variable.
        """
        ty = tvm_api.type_of(expr)
        if exported is None or isinstance(ty, tvm_api.ShapeType):
            exported = isinstance(ty, tvm_api.ShapeType) or self.source.flip(self.knobs.output_share)
        local = self.dataflow and not exported
        var = self.frame.new_var(ty, dataflow=local)
        self.bindings.append(tvm_api.relax.VarBinding(var, expr))
        if self.frame.is_fixed(expr):
            self.frame.fixed.add(var)
        value = value_of(var, ty, ranges, self.frame.symbols, dataflow=local, shape=shape)
        if value is not None:
            self.values.append(value)
        return value

    def field(self, whole: TupleValue, number: int) -> AnyValue | None:
        """Binds one field of a tuple in scope."""
        field = whole.fields[number]
        item = self.frame.module.builder.normalize(tvm_api.relax.TupleGetItem(whole.expr, number))
        return self.bind(item, ranges_of(field), field.shape if isinstance(field, Value) else None)

    def new_late_symbol(self, value: int) -> SymbolicDim:
        """A symbol for a match_cast to define here."""
        symbol = self.frame.new_late_symbol(value)
        self.late.add(symbol.text)
        return symbol

    def shape_expr(self, dims: Sequence[Dim]) -> Expr:
        """The dims as a ShapeExpr."""
        return tvm_api.relax.ShapeExpr([dim_expr(d) for d in dims])

    def _check(self, value: AnyValue, call: Expr) -> None:
        if isinstance(value, Value):
            if value.shape is not None:
                self.check_size(value.shape)
            usual = comfortable(value.dtype)
            if not value.range.within(usual.low, usual.high) and not keeps_integers(value, call, self.values):
                raise Unavailable("the result may grow too large")
        elif hasattr(value, "fields"):
            for field in value.fields:
                self._check(field, call)

    def check_size(self, shape: Sequence[int]) -> None:
        """Unavailable for shapes beyond the size limit of the knobs."""
        if math.prod(shape) > self.knobs.max_elements or len(shape) > 6:
            raise Unavailable("the result is too large")
