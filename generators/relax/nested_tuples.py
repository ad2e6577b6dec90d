"""Tuples of tuples: built of different values of one type, taken apart field by field, with values computed from the
fields that were taken. Types do not tell such fields from each other, values do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tvm import relax

from generators.ranges import Range
from generators.relax.scope import FLOAT, Drawn, Scope
from generators.relax.values import AnyValue, TupleValue, Value, number_value, ranges_of
from generators.unavailable import Unavailable

FieldPath: TypeAlias = tuple[int, ...]
"""Where a field is in a nested tuple: the numbers of the fields on the way to it."""
_SIGNED = (*FLOAT, "int32", "int64", "int16")
"""dtypes in which values can be subtracted from each other."""


def draw_tuples_of_tuples(s: Scope) -> None:
    """A tuple of tuples, and values computed from some fields of its fields."""
    taken_apart(s, nested(s, draw_parts(s)))


def draw_nested_output(s: Scope) -> None:
    """The same with a nested tuple that comes out of the block and is taken apart after it."""
    nested_output(s)


def nested_output(s: Scope, use: Callable[[Scope, Value], None] = lambda s, value: None) -> TupleValue:
    """A nested tuple that comes out of its block while its fields do not; after the block, fields of its fields are
    taken, and values computed from them are given to `use`."""
    whole = nested(s, draw_parts(s, exported=False), exported=True)

    def after_block(s: Scope) -> None:
        for value in taken_apart(s, whole):
            use(s, value)

    s.put_off.append(("nested output", after_block))
    if s.source.flip(s.knobs.tuples.in_block):
        taken_apart(s, whole)
    return whole


# --- building -------------------------------------------------------------------------------------------


def draw_parts(s: Scope, *, exported: bool | None = None) -> list[Value]:
    """Different values of one type; with `exported` False some of them are hidden in their block."""
    parts = [s.tensor(_SIGNED, (0, 3), nonempty=True)]
    count = s.source.integer(*s.knobs.tuples.parts)
    while len(parts) < count:
        parts.append(
            _computed(s, parts, len(parts), exported)
            if s.source.flip(s.knobs.tuples.computed)
            else _another(s, parts[0])
        )
    if exported is False:
        parts.append(_computed(s, parts, count, False))
    return parts


def _another(s: Scope, value: Value) -> Value:
    assert value.dims is not None
    return s.fresh(value.dims, value.dtype, s.draw_range(value.dtype))


def _computed(s: Scope, parts: Sequence[Value], number: int, exported: bool | None) -> Value:
    """A difference of two parts, or a part and a number that no other part was given."""
    one, two = s.source.pick(parts), s.source.pick(parts)
    if one is not two and s.source.flip(s.knobs.tuples.differences):
        return s.emit_tensor(Drawn(relax.op.subtract(one.expr, two.expr), one.range - two.range), exported=exported)
    other = number_value(one.dtype, number)
    return s.emit_tensor(Drawn(relax.op.add(one.expr, other.expr), one.range + other.range), exported=exported)


def nested(s: Scope, parts: Sequence[Value], *, exported: bool | None = None) -> TupleValue:
    """A bound tuple of tuples of the parts."""
    width = s.source.integer(*s.knobs.tuples.widths)
    fields: list[AnyValue] = []
    for _ in range(s.source.integer(*s.knobs.tuples.widths)):
        fields.append(
            _inner(s, parts, width if s.source.flip(s.knobs.tuples.alike) else s.source.integer(*s.knobs.tuples.widths))
        )
    if s.source.flip(s.knobs.tuples.beside):
        fields.insert(s.source.integer(0, len(fields)), s.source.pick(parts))
    if s.source.flip(s.knobs.tuples.deeper):
        fields = [_bound(s, fields), *fields[: s.source.integer(1, 2)]]
    return _bound(s, fields, exported=exported)


def _inner(s: Scope, parts: Sequence[Value], width: int) -> TupleValue:
    """Some of the parts in any order as a tuple: one that is written where it is used, or bound, or that comes out of
    another tuple."""
    left = list(parts)
    fields: list[AnyValue] = [left.pop(s.source.integer(0, len(left) - 1)) for _ in range(width)]
    kind = s.source.integer(0, 5)
    if kind < 2:
        return TupleValue(relax.Tuple([field.expr for field in fields]), tuple(fields))
    inner = _bound(s, fields)
    if kind < 5:
        return inner
    around = _bound(s, [inner, s.source.pick(parts)])
    again = s.field(around, 0)
    return again if isinstance(again, TupleValue) else inner


def _bound(s: Scope, fields: Sequence[AnyValue], *, exported: bool | None = None) -> TupleValue:
    expr = s.frame.module.builder.normalize(relax.Tuple([field.expr for field in fields]))
    whole = s.bind(expr, tuple(ranges_of(field) for field in fields), exported=exported)
    if not isinstance(whole, TupleValue):
        raise Unavailable("a field has no known type")
    return whole


# --- taking apart ---------------------------------------------------------------------------------------


def taken_apart(s: Scope, whole: TupleValue) -> list[Value]:
    """Some fields of fields, bound, and then values computed from them. Raises Unavailable where there are none."""
    paths = list(_paths(whole))
    askew = [path for path in paths if len(set(path)) > 1]
    if not paths:
        raise Unavailable("no tensor in the tuple")
    known: dict[FieldPath, AnyValue] = {(): whole}
    taken: list[Value] = []
    for _ in range(s.source.integer(*s.knobs.tuples.taken)):
        path = s.source.pick(askew if askew and s.source.flip(s.knobs.tuples.askew) else paths)
        value = _followed(s, path, known)
        if isinstance(value, Value) and not any(value is other for other in taken):
            taken.append(value)
    return [*taken, *_joined(s, taken)]


def _paths(whole: TupleValue, before: FieldPath = ()) -> Iterator[FieldPath]:
    """The indices of every tensor in a tuple within the tuple, from the outside in."""
    for number, field in enumerate(whole.fields):
        if isinstance(field, TupleValue):
            yield from _paths(field, (*before, number))
        elif isinstance(field, Value) and before:
            yield *before, number


def _followed(s: Scope, path: FieldPath, known: dict[FieldPath, AnyValue]) -> AnyValue | None:
    """The field at the end of the path, bound; tuples on the way may be those that were taken before."""
    value = known[()]
    for end in range(1, len(path) + 1):
        if not isinstance(value, TupleValue):
            return None
        before = known.get(path[:end])
        if before is not None and s.source.flip(s.knobs.tuples.shared):
            value = before
            continue
        field = s.field(value, path[end - 1])
        if field is None:
            return None
        value = known[path[:end]] = field
    return value


def _joined(s: Scope, values: Sequence[Value]) -> list[Value]:
    """A value that depends on all with the type of the first, in their order; none for fewer than two."""
    same = [v for v in values if v.known and v.dims == values[0].dims and v.dtype == values[0].dtype]
    if len(same) < 2:
        return []
    if same[0].ndim and s.source.flip(s.knobs.tuples.concatenated):
        return [_concatenated(s, same)]
    whole = same[0]
    for value in same[1:]:
        if whole.dtype not in _SIGNED:
            break
        whole = s.emit_tensor(Drawn(relax.op.subtract(whole.expr, value.expr), whole.range - value.range))
    return [whole] if whole is not same[0] else []


def _concatenated(s: Scope, values: Sequence[Value]) -> Value:
    ranges: Range = values[0].range
    for value in values[1:]:
        ranges = ranges.hull(value.range)
    axis = s.source.integer(0, values[0].ndim - 1)
    return s.emit_tensor(Drawn(relax.op.concat([value.expr for value in values], axis), ranges))
