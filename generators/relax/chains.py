"""Chains: operators of one kind, each on the result of the one before. Forks: two operators on one value, and a
third that joins their results. Rewrites of two calls into one, and of three into two, look for both. Pairs: two
operators that do different things to their operands, the second on the result of the first; what a pass joins most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvm import relax

from generators.operators.row import Operator, Rounding
from generators.operators.table import OPERATORS
from generators.ranges import NARROW, ends_of
from generators.relax.beside import another_like, beside_of, origin_of, takes_literal, with_literal
from generators.relax.body import attempt
from generators.relax.scope import EVERY, FLOAT, INTEGER, Drawn, Scope
from generators.relax.values import AnyValue, Dim, Link, TupleValue, Value, extent
from generators.source import Echo, favour, weighted
from generators.unavailable import Unavailable


def _rows(names: str) -> tuple[Operator, ...]:
    return tuple(OPERATORS[f"relax.{name}"] for name in names.split())


_KINDS: tuple[tuple[tuple[Operator, ...], int], ...] = (
    (_rows("permute_dims reshape expand_dims squeeze flatten broadcast_to astype layout_transform"), 4),
    (_rows("concat split stack strided_slice take tile repeat flip"), 4),
    (_rows("negative abs clip nn.relu maximum minimum sign square"), 3),
    (_rows("add subtract multiply divide power floor_divide floor_mod negative"), 4),
    (_rows("less less_equal greater greater_equal equal not_equal"), 1),
    (_rows("logical_not logical_and logical_or logical_xor where astype greater less"), 3),
    (_rows("sum mean max min prod cumsum expand_dims squeeze broadcast_to reshape"), 3),
    (_rows("matmul permute_dims reshape add multiply concat split"), 2),
    (_rows("permute_dims flip cumsum nn.softmax sort argsort triu tril take"), 2),
    (_rows("nn.pad nn.conv2d nn.max_pool2d nn.avg_pool2d nn.relu add permute_dims"), 2),
    (tuple(row for row in OPERATORS.values() if row.elementwise), 2),
    (tuple(row for row in OPERATORS.values() if row.rounding is Rounding.MOVE and not row.sized_by_values), 2),
)
"""Operators that go together, and how often."""
_JOINS = _rows("add subtract multiply divide maximum minimum equal less logical_and logical_or where concat matmul")
"""Operators of two operands or more."""
_ALONG_AN_AXIS = _rows("nn.softmax nn.log_softmax cumsum cumprod flip sort triu tril")
"""Operators of one operand that keep its type as elementwise ones do, and look at more than one element."""
_WHOLE = _rows("concat concat concat add subtract matmul")
"""Those that put the fields of a tuple together."""


def draw_chains(s: Scope, names: Sequence[str] = (), dtypes: Sequence[str] = ()) -> None:
    """Some chains, of the operators of these names where there are any, half of them on values of these dtypes where
    there are any. Raises Unavailable where there is none."""
    rows = tuple(OPERATORS[name] for name in names)
    stands = [
        attempt(s, "chain", lambda s: _draw_chain(s, rows, dtypes))
        for _ in range(s.source.integer(*s.knobs.chains.chains))
    ]
    if not any(stands):
        raise Unavailable("no chain")


def linked(s: Scope, values: Sequence[Value], rows: Sequence[Operator]) -> AnyValue:
    """Binds a call of one of the operators that takes the values. Raises Unavailable where none does."""
    return _Chain(s, rows).link(values)


def draw_chain(s: Scope) -> None:
    """Some operators in a row, all of one kind, or two on one value and one that joins them."""
    _draw_chain(s, (), ())


def _draw_chain(s: Scope, rows: Sequence[Operator], dtypes: Sequence[str]) -> None:
    chain = _Chain(s, rows or weighted(s.source, _KINDS), named=bool(rows))
    if rows and s.source.flip(s.knobs.pairs.share):
        _draw_pair(s, chain, dtypes)
        return
    value = _part(s, chain.opened()) if rows and s.source.flip(s.knobs.chains.opened) else _start(s, chain.rank, dtypes)
    if value is None or s.frame.is_fixed(value.expr):
        raise Unavailable("what depends on no parameter is folded as a whole")
    if s.source.flip(s.knobs.chains.forks):
        one, two = chain.link([value]), chain.link([value])
        joined = [part for part in (_part(s, one), _part(s, two)) if part is not None]
        if len(joined) > 1:
            chain.join(joined)
        return
    for _ in range(s.source.integer(*s.knobs.chains.links)):
        bound = chain.link([value])
        if isinstance(bound, TupleValue) and s.source.flip(s.knobs.chains.rejoined):
            bound = chain.join(_shuffled(s, _parts(s, bound)), _WHOLE)
        following = _part(s, bound)
        if following is None:
            return
        value = following


def _draw_pair(s: Scope, chain: _Chain, dtypes: Sequence[str]) -> None:
    """Two operators of different ways, the second on what the first gives; in some cases a third."""
    for _ in range(s.knobs.chains.tries):
        first, second = chain.drawn_pair()
        chain.begin()
        value = _part_of(s, chain.called(first, _before(s, first, second, dtypes), before=second))
        if value is None or s.frame.is_fixed(value.expr):
            continue
        last = _part_of(s, chain.called(second, [value], literals=s.knobs.pairs.literals))
        if last is not None:
            if s.source.flip(s.knobs.pairs.after_pair):
                chain.link([last])
            return
    raise Unavailable("no operators of this kind go together")


def _before(s: Scope, first: Operator, second: Operator, dtypes: Sequence[str]) -> list[Value]:
    """The operand that a pair begins with, where it must have the rank that the second operator asks for, or a dtype
    that a pass names: else the first operator draws its own."""
    whole = first.rounding is Rounding.CAST and s.source.flip(s.knobs.pairs.whole_before_cast)
    named = [dtype for dtype in dtypes if dtype in INTEGER] if whole else list(dtypes)
    some = named if named and s.source.flip(s.knobs.pairs.named_dtype) else INTEGER if whole else ()
    rank = first.rank or second.rank
    if rank is not None and (first.rank is None or some):
        widest = 4 if rank > 3 else 6
        return [s.tensor(some or FLOAT, dims=[s.source.pick((2, 3, 4, widest)) for _ in range(rank)])]
    if not some:
        return []
    dtype = s.source.pick(some)
    if first.rounding is Rounding.CAST and dtype in NARROW and s.source.flip(s.knobs.pairs.ends_before_cast):
        return [s.fresh(tuple(_rich_dims(s)), dtype, s.source.pick(ends_of(dtype)))]
    return [s.tensor((dtype,))]


def _start(s: Scope, rank: int | None, named_dtypes: Sequence[str]) -> Value:
    """A value with enough elements to tell axes and orders apart, in most cases; in some of this rank, and of one of
    these dtypes."""
    dtypes: Sequence[str] = INTEGER if s.source.flip(s.knobs.chain_starts.integers) else EVERY
    if named_dtypes and s.source.flip():
        dtypes = named_dtypes
    value = s.tensor(dtypes)
    if rank is not None and s.source.flip(s.knobs.chain_starts.ranked):
        return s.tensor((value.dtype,), dims=[s.source.pick((2, 3, 4, 6)) for _ in range(rank)])
    if s.source.flip(s.knobs.chain_starts.alike):
        return s.tensor((value.dtype,), dims=[s.source.pick((2, 3, 4))] * _rank(s))
    if not _is_rich(value, s.knobs.chain_starts.rich) and s.source.flip(s.knobs.chain_starts.enriched):
        value = s.tensor((value.dtype,), dims=_rich_dims(s))
    return value


def _rank(s: Scope) -> int:
    return favour(s.source, 3, 2, 4, 5)


def _rich_dims(s: Scope) -> list[Dim]:
    """Two to five dims with some elements each, one of them in some cases with one, which broadcasts."""
    rank = _rank(s)
    dims: list[Dim] = [s.source.pick((2, 3, 4, 5) if rank < 4 else (2, 3)) for _ in range(rank)]
    if rank < 4 and s.source.flip(s.knobs.chain_starts.long):
        dims[s.source.integer(0, rank - 1)] = s.source.pick((8, 9, 12))
    if s.source.flip(s.knobs.chain_starts.one_broadcasts):
        dims[s.source.integer(0, rank - 1)] = 1
    return dims


def _is_rich(value: Value, elements: int) -> bool:
    return value.size >= elements and sum(extent(dim) > 1 for dim in value.dims or ()) > 1


class _Chain:
    """The calls of one chain: `last` is the operator of the newest, `changed` the axes along which that has another
    extent than its operand, `origin` the dtype of that, `beside` its other operands, `given` the choices made for each
    operator."""

    def __init__(self, scope: Scope, rows: Sequence[Operator], *, named: bool = False) -> None:
        self._scope = scope
        self._knobs = scope.knobs
        self._rows = rows
        self._named = named
        self.begin()
        self._given: dict[str, list[Any]] = {}

    def begin(self) -> None:
        """No call is before the next one."""
        self._last: Operator | None = None
        self._changed: tuple[int, ...] = ()
        self._beside: list[Value] = []
        self._origin = ""

    @property
    def rank(self) -> int | None:
        """The rank that an operator of the chain asks of its first operand; None where none does."""
        return next((row.rank for row in self._rows if row.rank is not None), None)

    def opened(self) -> AnyValue:
        """Binds a call of one of the operators with operands of its own. Raises Unavailable where none can be drawn."""
        for _ in range(self._knobs.chains.tries):
            self._last = self._scope.source.pick(self._rows)
            result = self.called(self._last, ())
            if result is not None:
                return result
        raise Unavailable("no operator of this kind")

    def link(self, values: Sequence[Value]) -> AnyValue:
        """Binds a call of one of the operators that takes the values. Raises Unavailable where none does."""
        source, last = self._scope.source, self._last
        for _ in range(self._knobs.chains.tries):
            row = last if last is not None and source.flip(self._knobs.chains.same) else self._next()
            result = self.called(row, values)
            if result is not None:
                return result
        raise Unavailable("no operator of this kind takes the value")

    def drawn_pair(self) -> tuple[Operator, Operator]:
        """Two operators, of different ways where the pass names such, in any order; in some cases one is not named."""
        source = self._scope.source
        ways = _by_way(self._rows)
        across = [rows for rows in ways if not rows[0].elementwise]
        one = source.pick(across if across and source.flip(self._knobs.pairs.across) else ways)
        first = source.pick(one)
        others = [rows for rows in ways if rows is not one] or [[row for row in one if row is not first]]
        beyond = not others[0] or source.flip(self._knobs.pairs.beyond)
        pair = first, self._other() if beyond else source.pick(source.pick(others))
        in_order = source.flip(self._knobs.pairs.named_first) if beyond else source.flip()
        return pair if in_order else (pair[1], pair[0])

    def _other(self) -> Operator:
        source = self._scope.source
        return source.pick(_ALONG_AN_AXIS if source.flip() else weighted(source, _KINDS))

    def _next(self) -> Operator:
        """One of the operators of this chain, or another one where they were named."""
        source = self._scope.source
        if self._named and source.flip(self._knobs.chains.others):
            return self._other()
        return source.pick(self._rows)

    def join(self, values: Sequence[Value], rows: Sequence[Operator] = _JOINS) -> AnyValue:
        """Binds a call of one of these operators that takes the values. Raises Unavailable where none does."""
        for _ in range(self._knobs.chains.tries):
            result = self.called(self._scope.source.pick(rows), values)
            if result is not None:
                return result
        raise Unavailable("no operator joins the values")

    def called(
        self,
        row: Operator,
        values: Sequence[Value],
        *,
        before: Operator | None = None,
        literals: float | None = None,
    ) -> AnyValue | None:
        """The value of a call of the operator, bound; None where it does not take all of the values. before: the
        operator that is to take the result. literals: how often a constant is an operand, if not as often as usual."""
        s, source = self._scope, self._scope.source
        s.frame.module.drawing = row.name
        share = self._knobs.beside.literals if literals is None else literals
        s.leading = self._led(values, share)
        windows = before is not None and before.rank is not None
        s.link = Link(windows, self._changed, self._origin) if values else Link(windows)
        earlier = self._given.get(row.name, ()) if source.flip(self._knobs.chains.likewise) else ()
        echo = Echo(source, earlier, self._knobs.chains.likewise_anew)
        s.source = echo
        try:
            drawn = row.draw(s)
        except Unavailable:
            return None
        finally:
            s.leading, s.link, s.source = [], Link(), source
        free = relax.analysis.free_vars(drawn.call)
        if not all(any(var.same_as(value.expr) for var in free) for value in values):
            return None
        try:
            result = s.emit(drawn)
        except Unavailable:
            return None
        if result is not None:
            self._given[row.name] = echo.given
            s.frame.module.operators[row.name] += 1
            self._last, self._changed = row, _changed_axes(s, drawn, result)
            self._beside, self._origin = beside_of(s, drawn, values), origin_of(drawn)
        return result

    def _led(self, values: Sequence[Value], literals: float) -> list[Value]:
        """What the operands of a call should be: these values, and beside them a constant, or what was beside the
        operand of the call before, as in what undoes that one."""
        source = self._scope.source
        windows = self._last is not None and self._last.rank is not None
        if values and self._beside and not windows and source.flip(self._knobs.beside.same_beside):
            others = (
                another_like(self._scope, v) if source.flip(self._knobs.beside.other_beside) else v
                for v in self._beside
            )
            return [*values, *others]
        if takes_literal(values) and source.flip(literals):
            return with_literal(self._scope, values, self._last)
        return [*values]


def _changed_axes(s: Scope, drawn: Drawn, result: AnyValue) -> tuple[int, ...]:
    """The axes along which the result has another extent than the first operand, aligned at the last axis."""
    args = [*drawn.call.args] if isinstance(drawn.call, relax.Call) else []
    operands = [v for v in s.values if isinstance(v, Value) and args and v.expr.same_as(args[0])]
    if not operands or not isinstance(result, Value) or operands[0].dims is None or result.dims is None:
        return ()
    before = (None,) * (result.ndim - operands[0].ndim) + operands[0].dims
    return tuple(axis for axis, dim in enumerate(result.dims) if dim != before[axis - result.ndim])


def _by_way(rows: Sequence[Operator]) -> list[list[Operator]]:
    """The operators by what they do to their operands: comparisons, casts, sums along axes, moves, and so on."""
    ways: dict[tuple[Rounding, bool], list[Operator]] = {}
    for row in rows:
        ways.setdefault((row.rounding, row.elementwise), []).append(row)
    return list(ways.values())


def _part_of(s: Scope, bound: AnyValue | None) -> Value | None:
    return None if bound is None else _part(s, bound)


def _part(s: Scope, bound: AnyValue) -> Value | None:
    """The value, or one field of a tuple, bound; None where nothing is known of it."""
    value: AnyValue | None = bound
    if isinstance(bound, TupleValue):
        tensors = _tensors(bound)
        value = s.field(bound, s.source.pick(tensors)) if tensors else None
    return value if isinstance(value, Value) and value.known else None


def _tensors(whole: TupleValue) -> list[int]:
    return [number for number, field in enumerate(whole.fields) if isinstance(field, Value)]


def _parts(s: Scope, whole: TupleValue) -> list[Value]:
    """The fields of a tuple that are tensors, bound. Raises Unavailable where there are not several."""
    bound = [s.field(whole, number) for number in _tensors(whole)]
    known = [value for value in bound if isinstance(value, Value) and value.known]
    if len(known) < 2:
        raise Unavailable("nothing to join")
    return known


def _shuffled(s: Scope, values: list[Value]) -> list[Value]:
    left = list(values)
    return [left.pop(s.source.integer(0, len(left) - 1)) for _ in values]
