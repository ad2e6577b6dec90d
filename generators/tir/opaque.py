"""Functions without blocks: buffers filled, then loops of every kind, stores, branches over them.

Each output is written whole first, so that what follows may read and write any element of it in any order. A tensor
holds its range whatever is stored, since values are brought into it. Stores are in `stores.py`,
control flow in `control.py`, nests over a whole tensor in `perfect.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import tirx

from generators.dtypes import is_float
from generators.ranges import TRUTH, Range
from generators.source import weighted
from generators.tir.conditions import draw_test
from generators.tir.control import (
    draw_assertion,
    draw_bind,
    draw_branch,
    draw_gate,
    draw_jump,
    draw_loop,
    draw_recurrence,
    draw_rest,
    draw_scratch,
    draw_triangle,
    draw_while,
)
from generators.tir.draft import Draft, Extent, Tensor, Unfit, load
from generators.tir.expressions import draw_constant, draw_value
from generators.tir.perfect import draw_nest
from generators.tir.place import Inner, Place, sequence, store
from generators.tir.reads import counter
from generators.tir.stores import draw_chain, draw_store, draw_update, memory, writable
from generators.tir.swarm import Unusual, draw_unusual
from generators.tir.terms import Term, capacity
from generators.tir.vectors import draw_lanes

_Kind = Callable[[Place, Inner], Any]
_TRIES = 5
_SHOWN = 0.85
"""What an allocated buffer holds in the end is written to an output this often, else nobody may ever read it."""
_REGISTER = 0.35
"""An allocated buffer has one element this often: what loops and branches pass on."""
_REPEATED = 0.2
"""A statement is of the kind of the one before it this often: loops stand beside loops, branches beside branches."""
_CONSTANT = 0.2
"""A buffer is filled with one number this often, as those are into which something is added up."""
_MASKED = 0.2
"""A function with floats ends with one of them masked this often."""
_MASKABLE = ("float16", "float32", "float64")
_FEW = 4
"""Elements of which stores overwrite each other mostly, before anybody reads them."""


def held_range(dtype: str) -> tuple[Range, int]:
    """What the tensors of a function without blocks hold, and how fine."""
    if dtype == "bool":
        return TRUTH, 0
    top = min(50, int(capacity(dtype, 2)) if is_float(dtype) else int(capacity(dtype)))
    return Range(0 if dtype.startswith("u") else -top, top, True), 2 if is_float(dtype) and dtype != "bfloat16" else 0


def draw_statements(draft: Draft) -> None:
    """The statements of the whole function."""
    source = draft.source
    draft.unusual = draw_unusual(source, draft.knobs)
    if not draft.unusual:
        draft.features.add("plain")
    place = Place(draft, [t for t in draft.tensors if t.role == "input" and not t.special])
    for role in (
        "output",
        *("output" for _ in range(source.integer(0, 1))),
        *("alloc" for _ in range(source.integer(0, 2))),
    ):
        tensor = new_tensor(draft, role)
        if role == "alloc":
            draft.statements.append(tirx.AllocBuffer(tensor.buffer))
            draft.features.add("alloc_buffer")
        draft.statements.append(_fill(place, tensor))
        place.tensors.append(tensor)
    for _ in range(source.integer(*draft.knobs.statements)):
        draft.statements.append(draw_one(place))
        if Unusual.VIEW in draft.unusual and source.flip(0.2):
            _draw_view(place)
    for tensor in [t for t in place.tensors if t.role == "alloc" and t.name not in place.memory]:
        if source.flip(_SHOWN):
            draft.statements.append(_shown(place, tensor))
    floats = [t for t in place.tensors if t.dtype in _MASKABLE and not t.special]
    if floats and source.flip(_MASKED):
        draft.statements.append(_masked(place, source.pick(floats)))


def _shown(place: Place, tensor: Tensor) -> Any:
    """Every element copied to a new output."""
    draft = place.draft
    shown = draft.add_tensor("T", tensor.dims, tensor.dtype, tensor.range, fraction=tensor.fraction, role="output")
    return _each_element(place, shown, lambda _, indices: load(tensor, indices))


def _masked(place: Place, tensor: Tensor) -> Any:
    """The same, with a number of no size in the place of those that fail a test, as attention and pooling want it."""
    draft = place.draft
    top = float(np.finfo(tensor.dtype).max)
    masked = draft.add_tensor("T", tensor.dims, tensor.dtype, Range(-top, top), role="output", special=True)
    filling = tirx.FloatImm(tensor.dtype, draft.source.pick((-top, top, -math.inf, math.inf)))
    kept_where_true = draft.source.flip(0.7)
    draft.features.add("masked")

    def value(inner: Place, indices: list[Any]) -> Term:
        kept = load(tensor, indices)
        sides = (kept.expr, filling) if kept_where_true else (filling, kept.expr)
        return replace(kept, expr=tirx.Select(draw_test(inner), *sides))

    return _each_element(place, masked, value, lambda tensor, term, at: tirx.BufferStore(tensor.buffer, term.expr, at))


def new_tensor(draft: Draft, role: str) -> Tensor:
    """A tensor for the function to write, of dims that it has already mostly."""
    base = draft.source.pick(draft.tensors)
    alike = draft.source.flip(0.6 if base.elements >= _FEW else 0.2)
    dims = base.dims if alike else (draft.draw_extent(empty=False), draft.draw_extent(empty=False))
    dims = dims if role == "output" else tuple(d if d.static else draft.extent(8) for d in dims)
    if role == "alloc" and draft.source.flip(_REGISTER):
        dims = (draft.extent(1),)
    if role == "alloc" and not all(d.value for d in dims):
        dims = (draft.extent(4),)
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    layout: dict[str, Any] = {"scope": "local"} if role == "alloc" and draft.source.flip(0.3) else {}
    return draft.add_tensor("T", dims, dtype, values, fraction=fraction, role=role, **layout)


def _fill(place: Place, tensor: Tensor) -> Any:
    """Every element stored once."""
    if place.draft.source.flip(_CONSTANT):
        return _each_element(place, tensor, lambda inner, _: draw_constant(inner.site([], 0), tensor.dtype))
    return _each_element(place, tensor, lambda inner, _: inner.value(tensor.dtype))


def _each_element(
    place: Place,
    tensor: Tensor,
    value: Callable[[Place, list[Any]], Term],
    put: Callable[[Tensor, Term, list[Any]], Any] = store,
) -> Any:
    """A loop for each dim around a store of what `value` gives at the place inside, for the element's indices."""
    draft = place.draft
    points = [counter(draft, dim) for dim in tensor.dims]
    variables = [point.term.expr for point in points]
    inner = place.inside(*points)
    body = put(tensor, value(inner, list(variables)), list(variables))
    for depth, (var, dim) in reversed(list(enumerate(zip(variables, tensor.dims, strict=True)))):
        kind = tirx.ForKind.SERIAL
        if draft.source.flip(0.2):
            kind = _fill_kind(draft, dim, outermost=depth == 0, innermost=depth == len(variables) - 1)
        body = tirx.For(var, draft.number(0), dim.expr, kind, body)
    return body


def _fill_kind(draft: Draft, dim: Extent, *, outermost: bool, innermost: bool) -> Any:
    if Unusual.VECTOR in draft.unusual and innermost and dim.static and dim.value in (2, 3, 4, 8, 16):
        draft.features.add("vectorized")
        return tirx.ForKind.VECTORIZED
    if Unusual.PARALLEL in draft.unusual and outermost:
        draft.features.add("parallel")
        return tirx.ForKind.PARALLEL
    return tirx.ForKind.SERIAL


def draw_one(place: Place) -> Any:
    """One statement, with what is inside it; nothing where the drawn kinds do not fit."""
    draft = place.draft
    draft.drawn += 1
    for kind in _kinds(place):
        features, values, tensors = set(draft.features), list(place.values), list(draft.tensors)
        try:
            statement = kind(place, draw_sequence)
            place.kind = kind
            return statement
        except Unfit:
            draft.features, place.values, draft.tensors = features, values, tensors
    draft.features.add("no_op")
    return tirx.Evaluate(tirx.IntImm("int32", 0))


def _kinds(place: Place) -> Iterator[_Kind]:
    """What to try: that of the statement before, or any; a nest in the end, which fits where no index of a dim does."""
    draft = place.draft
    flat = place.depth >= 3 or draft.drawn > draft.knobs.all_statements
    rows = [(kind, weight) for kind, weight, needs in (_SIMPLE if flat else _STATEMENTS) if needs <= draft.unusual]
    if any(kind is place.kind for kind, _ in rows) and draft.source.flip(_REPEATED):
        yield place.kind
    for _ in range(_TRIES):
        yield weighted(draft.source, rows)
    yield draw_nest


def draw_sequence(place: Place) -> Any:
    """One statement or some, which see what those before them bind."""
    count = place.draft.source.pick((1, 2, 2, 3)) if place.draft.drawn < place.draft.knobs.all_statements else 1
    statements = [draw_one(place) for _ in range(count)]
    return sequence(*statements)


def draw_each(place: Place, _inner: Any) -> Any:
    """A loop, parallel or vectorized where it may be, in which every iteration touches an element of its own."""
    draft = place.draft
    tensor = writable(place)
    if not tensor.dims or not all(d.static and d.value for d in tensor.dims):
        raise Unfit("a dim that may be empty")
    dim = tensor.dims[-1]
    point = counter(draft, dim)
    var = point.term.expr
    lead = [place.index(d) for d in tensor.dims[:-1]]
    at = place.inside(point, turns=dim.value)
    others = [t for t in place.tensors if memory(place, t) != memory(place, tensor)]
    site = at.site(others, 2).with_leaves(load(tensor, [*lead, var]))
    body = store(tensor, draw_value(site, tensor.dtype), [*lead, var])
    kinds = [
        (name, kind)
        for name, kind, needs, fits in (
            ("parallel", tirx.ForKind.PARALLEL, Unusual.PARALLEL, not place.in_loop),
            ("vectorized", tirx.ForKind.VECTORIZED, Unusual.VECTOR, dim.value in (2, 3, 4, 8, 16)),
            ("unrolled", tirx.ForKind.UNROLLED, Unusual.UNROLLED, dim.value <= 8),
        )
        if fits and needs in draft.unusual
    ]
    name, kind = draft.source.pick(kinds or [("serial_row", tirx.ForKind.SERIAL)])
    draft.features.add(name)
    return tirx.For(var, draft.number(0), dim.expr, kind, body)


def _draw_view(place: Place) -> None:
    """Another buffer on the memory of one, with other dims.

    Without an offset: FlattenBuffer adds it to the indices and leaves it on the buffer, so that nobody can say whether
    a flat buffer counts it once more.
    """
    draft = place.draft
    options = [t for t in place.tensors if t.dims and all(d.static and d.value for d in t.dims)]
    options = [t for t in options if t.name not in place.memory]
    if not options:
        return
    tensor = draft.source.pick(options)
    size = next(s for s in (draft.source.pick((2, 4, 3)), 1) if tensor.elements % s == 0)
    dims = (draft.extent(tensor.elements // size), draft.extent(size))
    view = draft.add_tensor(
        "Y",
        dims,
        tensor.dtype,
        tensor.range,
        fraction=tensor.fraction,
        role="input" if tensor.role == "input" else "alloc",
        data=tensor.buffer.data,
    )
    draft.tensors.pop()
    draft.statements.append(tirx.DeclBuffer(view.buffer, data=tensor.buffer.data))
    place.memory[view.name] = tensor.name
    place.tensors.append(view)
    draft.features.add("view")


_NONE: frozenset[Unusual] = frozenset()
_SIMPLE = (
    (draw_store, 5, _NONE),
    (draw_update, 4, _NONE),
    (draw_chain, 2, _NONE),
    (draw_bind, 2, frozenset({Unusual.BIND})),
    (draw_lanes, 2, frozenset({Unusual.VECTOR})),
    (draw_each, 2, _NONE),
    (draw_assertion, 1, frozenset({Unusual.ASSERT})),
    (draw_jump, 3, frozenset({Unusual.JUMP})),
)
_STATEMENTS = (
    *_SIMPLE,
    (draw_nest, 8, _NONE),
    (draw_loop, 8, _NONE),
    (draw_triangle, 4, frozenset({Unusual.TRIANGLE})),
    (draw_rest, 1, frozenset({Unusual.TRIANGLE})),
    (draw_branch, 5, _NONE),
    (draw_while, 3, frozenset({Unusual.WHILE})),
    (draw_gate, 2, _NONE),
    (draw_scratch, 1, _NONE),
    (draw_recurrence, 4, _NONE),
)
"""How a statement is drawn, its weight, and what unusual it holds."""
