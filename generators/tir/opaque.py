"""Functions without blocks: buffers filled, then loops of every kind, stores, branches over them.

Each output is written whole first, so that later statements may read and write any element of it in any order. A tensor
holds its range whatever is stored, since values are brought into it. Stores are in `stores.py`,
control flow in `control_flow.py`, nests over a whole tensor in `perfect_nests.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from tvm import tirx

from generators import tvm_api
from generators.dtypes import is_float
from generators.ranges import TRUTH, Range
from generators.source import favour, weighted
from generators.tir.accumulations import draw_accumulation
from generators.tir.conditions import draw_test
from generators.tir.control_flow import (
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
from generators.tir.expressions import draw_constant, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, Unfit, load
from generators.tir.perfect_nests import draw_nest
from generators.tir.reads import counter
from generators.tir.site import Inner, Site, sequence, store
from generators.tir.stores import draw_chain, draw_store, draw_update, memory, writable
from generators.tir.swarm import Unusual, draw_unusual
from generators.tir.terms import Term, capacity
from generators.tir.vectors import draw_lanes
from generators.tvm_api import Expr, Stmt

_Kind = Callable[[Site, Inner], Stmt]
_View: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The dims and the strides of a view."""
_MASKABLE = ("float16", "float32", "float64")


def held_range(dtype: str) -> tuple[Range, int]:
    """The range of the tensors of a function without blocks, and how fine their fractions are."""
    if dtype == "bool":
        return TRUTH, 0
    top = min(50, int(capacity(dtype, 2)) if is_float(dtype) else int(capacity(dtype)))
    return Range(0 if dtype.startswith("u") else -top, top, True), 2 if is_float(dtype) and dtype != "bfloat16" else 0


def draw_statements(draft: FunctionDraft, planted: Callable[[Site], Stmt] | None = None) -> None:
    """The statements of the whole function. planted: draws one more of them, at any place among the others."""
    source = draft.source
    draft.unusual = draw_unusual(source, draft.knobs)
    if not draft.unusual:
        draft.features.add("plain")
    site = Site(draft, [t for t in draft.tensors if t.role == "input" and not t.special])
    for role in (
        "output",
        *("output" for _ in range(source.integer(0, 1))),
        *("alloc" for _ in range(source.integer(0, 2))),
    ):
        tensor = new_tensor(draft, role)
        if role == "alloc":
            draft.statements.append(tirx.AllocBuffer(tensor.buffer))
            draft.features.add("alloc_buffer")
        draft.statements.append(fill(site, tensor))
        site.tensors.append(tensor)
    count = source.integer(*draft.knobs.statements)
    before = count if planted is None else source.integer(0, count)
    _draw_some(site, before)
    if planted is not None:
        draft.statements.append(planted(site))
        _draw_some(site, count - before)
    for tensor in [t for t in site.tensors if t.role == "alloc" and t.name not in site.memory]:
        if source.flip(draft.knobs.buffers.shown):
            draft.statements.append(_shown(site, tensor))
    floats = [t for t in site.tensors if t.dtype in _MASKABLE and not t.special]
    if floats and source.flip(draft.knobs.buffers.masked):
        draft.statements.append(_masked(site, source.pick(floats)))


def _draw_some(site: Site, count: int) -> None:
    """So many statements, in some cases with a view of a buffer after one."""
    draft = site.draft
    for _ in range(count):
        draft.statements.append(draw_one(site))
        if Unusual.VIEW in draft.unusual and draft.source.flip(draft.knobs.buffers.view):
            _draw_view(site)


def _shown(site: Site, tensor: DraftTensor) -> Stmt:
    """Every element copied to a new output."""
    draft = site.draft
    shown = draft.add_tensor("T", tensor.dims, tensor.dtype, tensor.range, fraction=tensor.fraction, role="output")
    return each_element(site, shown, lambda _, indices: load(tensor, indices))


def _masked(site: Site, tensor: DraftTensor) -> Stmt:
    """The same, with a number of no size in place of those that fail a test, as attention and pooling want it."""
    draft = site.draft
    top = float(np.finfo(tensor.dtype).max)
    masked = draft.add_tensor("T", tensor.dims, tensor.dtype, Range(-top, top), role="output", special=True)
    filling = tirx.FloatImm(tensor.dtype, draft.source.pick((-top, top, -math.inf, math.inf)))
    kept_where_true = draft.source.flip(draft.knobs.buffers.mask_kept)
    draft.features.add("masked")

    def value(inner: Site, indices: list[Expr]) -> Term:
        kept = load(tensor, indices)
        sides = (kept.expr, filling) if kept_where_true else (filling, kept.expr)
        return replace(kept, expr=tirx.Select(draw_test(inner), *sides))

    return each_element(site, masked, value, lambda tensor, term, at: tirx.BufferStore(tensor.buffer, term.expr, at))


def new_tensor(draft: FunctionDraft, role: str) -> DraftTensor:
    """A tensor for the function to write, in most cases of dims that it already has."""
    base = draft.source.pick(draft.tensors)
    alike = draft.source.flip(
        draft.knobs.buffers.like_another
        if base.elements >= draft.knobs.buffers.few_elements
        else draft.knobs.buffers.like_a_register
    )
    dims = base.dims if alike else (draft.draw_extent(empty=False), draft.draw_extent(empty=False))
    dims = dims if role == "output" else tuple(d if d.static else draft.extent(8) for d in dims)
    if role == "alloc" and draft.source.flip(draft.knobs.buffers.register):
        dims = (draft.extent(1),)
    if role == "alloc" and not all(d.value for d in dims):
        dims = (draft.extent(4),)
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    layout: Layout = {"scope": "local"} if role == "alloc" and draft.source.flip(draft.knobs.buffers.local) else {}
    return draft.add_tensor("T", dims, dtype, values, fraction=fraction, role=role, **layout)


def fill(site: Site, tensor: DraftTensor) -> Stmt:
    """Every element stored once."""
    if site.draft.source.flip(site.draft.knobs.buffers.constant_fill):
        return each_element(site, tensor, lambda inner, _: draw_constant(inner.operands([], 0), tensor.dtype))
    return each_element(site, tensor, lambda inner, _: inner.value(tensor.dtype))


def each_element(
    site: Site,
    tensor: DraftTensor,
    value: Callable[[Site, list[Expr]], Term],
    put: Callable[[DraftTensor, Term, list[Expr]], Stmt] = store,
) -> Stmt:
    """A loop for each dim around a store of `value(site, indices)` to the element."""
    draft = site.draft
    points = [counter(draft, dim) for dim in tensor.dims]
    variables = [point.term.expr for point in points]
    inner = site.inside(*points)
    body = put(tensor, value(inner, list(variables)), list(variables))
    for depth, (var, dim) in reversed(list(enumerate(zip(variables, tensor.dims, strict=True)))):
        kind = tirx.ForKind.SERIAL
        if draft.source.flip(draft.knobs.buffers.fill_kind):
            kind = _fill_kind(draft, dim, outermost=depth == 0, innermost=depth == len(variables) - 1)
        body = tirx.For(var, draft.number(0), dim.expr, kind, body)
    return body


def _fill_kind(draft: FunctionDraft, dim: Extent, *, outermost: bool, innermost: bool) -> tirx.ForKind:
    if Unusual.VECTOR in draft.unusual and innermost and dim.static and dim.value in (2, 3, 4, 8, 16):
        draft.features.add("vectorized")
        return tirx.ForKind.VECTORIZED
    if Unusual.PARALLEL in draft.unusual and outermost:
        draft.features.add("parallel")
        return tirx.ForKind.PARALLEL
    return tirx.ForKind.SERIAL


def draw_one(site: Site) -> Stmt:
    """One statement, with its nested statements; nothing where the drawn kinds do not fit."""
    draft = site.draft
    draft.drawn += 1
    for kind in _kinds(site):
        features, values, tensors = set(draft.features), list(site.values), list(draft.tensors)
        try:
            statement = kind(site, draw_sequence)
            site.kind = kind
            return statement
        except Unfit:
            draft.features, site.values, draft.tensors = features, values, tensors
    draft.features.add("no_op")
    return tirx.Evaluate(tirx.IntImm("int32", 0))


def _kinds(site: Site) -> Iterator[_Kind]:
    """The kinds to try: that of the statement before, or any; at last a nest, which always has indices."""
    draft = site.draft
    flat = site.depth >= 3 or draft.drawn > draft.knobs.all_statements
    rows = [(kind, weight) for kind, weight, needs in (_SIMPLE if flat else _STATEMENTS) if needs <= draft.unusual]
    if (
        site.kind is not None
        and any(kind is site.kind for kind, _ in rows)
        and draft.source.flip(draft.knobs.kinds.kind_again)
    ):
        yield site.kind
    for _ in range(draft.knobs.kinds.tries):
        yield weighted(draft.source, rows)
    yield draw_nest


def draw_sequence(site: Site) -> Stmt:
    """One to three statements; later ones see the names that earlier ones bind."""
    count = favour(site.draft.source, 2, 1, 3) if site.draft.drawn < site.draft.knobs.all_statements else 1
    statements = [draw_one(site) for _ in range(count)]
    return sequence(*statements)


def draw_each(site: Site, _inner: Inner) -> Stmt:
    """A loop, parallel or vectorized where it may be, in which every iteration touches an element of its own."""
    draft = site.draft
    tensor = writable(site)
    if not tensor.dims or not all(d.static and d.value for d in tensor.dims):
        raise Unfit("a dim that may be empty")
    dim = tensor.dims[-1]
    point = counter(draft, dim)
    var = point.term.expr
    lead = [site.index(d) for d in tensor.dims[:-1]]
    at = site.inside(point, turns=dim.value)
    others = [t for t in site.tensors if memory(site, t) != memory(site, tensor)]
    operands = at.operands(others, 2).with_leaves(load(tensor, [*lead, var]))
    body = store(tensor, draw_value(operands, tensor.dtype), [*lead, var])
    kinds = [
        (name, kind)
        for name, kind, needs, fits in (
            ("parallel", tirx.ForKind.PARALLEL, Unusual.PARALLEL, not site.in_loop),
            ("vectorized", tirx.ForKind.VECTORIZED, Unusual.VECTOR, dim.value in (2, 3, 4, 8, 16)),
            ("unrolled", tirx.ForKind.UNROLLED, Unusual.UNROLLED, dim.value <= 8),
        )
        if fits and needs in draft.unusual
    ]
    name, kind = draft.source.pick(kinds or [("serial_row", tirx.ForKind.SERIAL)])
    draft.features.add(name)
    return tirx.For(var, draft.number(0), dim.expr, kind, body)


def _draw_view(site: Site) -> None:
    """Another buffer on the memory of one, with other dims, in some cases with strides of its own.

    Without an offset: FlattenBuffer adds it to the indices and leaves it on the buffer, so that it is open whether
    a flat buffer counts it once more.
    """
    draft = site.draft
    options = [t for t in site.tensors if t.dims and all(d.static and d.value for d in t.dims)]
    options = [t for t in options if t.name not in site.memory]
    if not options:
        return
    tensor = draft.source.pick(options)
    lengths, strides = _strided(draft, tensor.elements)
    layout: Layout = {"data": tensor.buffer.data}
    if strides:
        layout["strides"] = [draft.number(stride) for stride in strides]
    view = draft.add_tensor(
        "Y",
        tuple([draft.extent(length) for length in lengths]),
        tensor.dtype,
        tensor.range,
        fraction=tensor.fraction,
        role="input" if tensor.role == "input" else "alloc",
        **layout,
    )
    draft.tensors.pop()
    draft.statements.append(tvm_api.declared(view.buffer, tensor.buffer.data))
    site.memory[view.name] = tensor.name
    site.tensors.append(view)
    draft.features.add("view")


def _strided(draft: FunctionDraft, count: int) -> _View:
    """The dims and the strides of a view of so many elements, none of which it shows twice; no strides where it shows
    all in order."""
    size = next(s for s in (draft.source.pick((2, 4, 3)), 1) if count % s == 0)
    if count < 4 or not draft.source.flip(draft.knobs.buffers.view_strided):
        return (count // size, size), ()
    lengths, strides = draft.source.pick((_turned, _every_other, _part_of_rows))(draft, count, size)
    if not _is_dense(lengths, strides):
        draft.features.add("view_strided")
    return lengths, strides


def _is_dense(lengths: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether a view with these strides shows elements that follow each other in memory, in order."""
    following = 1
    for length, stride in reversed(list(zip(lengths, strides, strict=True))):
        if length > 1 and stride != following:
            return False
        following *= length
    return True


def _turned(draft: FunctionDraft, count: int, size: int) -> _View:
    """Columns as rows."""
    return (size, count // size), (1, size)


def _every_other(draft: FunctionDraft, count: int, size: int) -> _View:
    step = _step(draft, count)
    return ((count - 1) // step + 1,), (step,)


def _part_of_rows(draft: FunctionDraft, count: int, size: int) -> _View:
    step = _step(draft, count)
    width = draft.source.integer(1, step)
    return ((count - width) // step + 1, width), (step, 1)


def _step(draft: FunctionDraft, count: int) -> int:
    return draft.source.integer(2, max(2, min(count // 2, 9)))


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
    (draw_accumulation, 4, _NONE),
)
"""How a statement is drawn, its weight, and the unusual kinds that it needs."""
