"""Blocks that compute one tensor from others point by point: elementwise, reshapes, padding, copies, scans.

Reductions are in `reductions.py`, blocks with blocks or loops inside in `nested_blocks.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from tvm import tirx

from generators.dtypes import is_float
from generators.ranges import Range
from generators.source import favour
from generators.tir.block_loops import OPAQUE, SPATIAL, BlockAxis, BlockBody, draw_nest, product_range
from generators.tir.expressions import Operands, converted, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, Unfit, load
from generators.tir.multi_reads import both, draw_multi_read, load_multi_read
from generators.tir.partial_coverage import append_nest, draw_parts
from generators.tir.reads import can_read, points, read
from generators.tir.terms import Term, capacity, cast, chosen, clipped, constant, held, truth
from generators.tvm_api import Expr


def recent(draft: FunctionDraft, *, special: bool = False) -> list[DraftTensor]:
    """Tensors that can be read, the newest first, so that stages hang together."""
    return [t for t in reversed(draft.tensors) if t.special == special]


def pick_recent(draft: FunctionDraft, options: list[DraftTensor]) -> DraftTensor:
    """One of them, most often one of the first. Raises Unfit where there is none."""
    if not options:
        raise Unfit("no tensor to read")
    return options[0] if draft.source.flip(draft.knobs.blocks.newest) else draft.source.pick(options)


def result(draft: FunctionDraft, prefix: str, dims: tuple[Extent, ...], term: Term) -> DraftTensor:
    """The tensor that a stage writes: an output for the last stage and 15 % of the others."""
    output = draft.final or draft.source.flip(draft.knobs.blocks.output)
    layout: Layout = {}
    if not output:
        layout = _layout(draft, dims)
    role = "output" if output else "local"
    return draft.add_tensor(prefix, dims, term.dtype, term.range, fraction=term.fraction, role=role, **layout)


def _layout(draft: FunctionDraft, dims: tuple[Extent, ...]) -> Layout:
    """Where and how a buffer of the function's own lies in memory."""
    source = draft.source
    layout: Layout = {}
    if source.flip(draft.knobs.blocks.local):
        layout["scope"] = "local"
        draft.features.add("scope_local")
    if len(dims) > 1 and all(d.static and d.value for d in dims) and source.flip(draft.knobs.blocks.strides):
        stride, strides = 1, []
        for dim in reversed(dims):
            strides.append(draft.number(stride))
            stride *= dim.value + source.pick((0, 1, 3))
        layout["strides"] = strides[::-1]
        draft.features.add("strides")
    return layout


def draw_pointwise(draft: FunctionDraft) -> None:
    """An expression of one to three tensors at each point."""
    base = pick_recent(draft, recent(draft))
    several = draw_multi_read(draft, base)
    dims = list(several.axes if several else base.dims)
    if several is None and len(dims) > 1 and draft.source.flip(draft.knobs.blocks.reversed_dims):
        dims.reverse()
    others = [t for t in recent(draft) if t is not base and can_read(t, dims)]
    operands = ([] if several else [base]) + [
        draft.source.pick(others) for _ in range(draft.source.integer(0, 2)) if others
    ]
    dtype = base.dtype if several else draft.draw_dtype()
    name = draft.new_name("map")
    drawn: list[Term] = []

    def value(terms: list[Term]) -> Term:
        at = points(terms, dims)
        leaves = [read(draft, t, at) for t in operands]
        if several is None:
            return _guard_inexact(draft, draw_value(Operands(draft, leaves, terms), dtype))
        joined = load_multi_read(draft, several, terms)
        if draft.source.flip():
            joined = both(draft, joined, draw_value(Operands(draft, [joined, *leaves], terms), dtype))
        return _guard_inexact(draft, joined)

    _stage(draft, name, dims, value, drawn)


def _guard_inexact(draft: FunctionDraft, term: Term) -> Term:
    """The value, or an elementary function of it where nothing reads the result: then the answer is rounded."""
    if not (draft.final and term.dtype in ("float32", "float64") and draft.source.flip(draft.knobs.blocks.inexact)):
        return term
    kind = draft.source.pick(("exp", "tanh", "sigmoid", "sqrt"))
    inner = clipped(term, 8.0)
    expr = tirx.abs(inner.expr) if kind == "sqrt" else inner.expr
    draft.exact = False
    draft.features.add("elementary_function")
    call: Callable[..., Expr] = getattr(tirx, kind)
    return Term(call(expr), term.dtype, Range(-1.0, 4096.0))


def _stage(
    draft: FunctionDraft,
    name: str,
    dims: list[Extent],
    value: Callable[[list[Term]], Term],
    drawn: list[Term],
    prefix: str = "T",
) -> DraftTensor:
    """A block that stores `value(axis terms)` at each point of a new tensor."""
    made: list[DraftTensor] = []
    order = list(range(len(dims)))
    if len(order) > 1 and draft.source.flip(draft.knobs.blocks.turned):
        order.reverse()
        draft.features.add("turned_store")

    def body(axis_terms: list[Term]) -> BlockBody:
        terms = [axis_terms[order.index(dim)] for dim in range(len(dims))]
        term = value(terms)
        drawn.append(term)
        tensor = result(draft, prefix, tuple(dims), term)
        made.append(tensor)
        return BlockBody(tirx.BufferStore(tensor.buffer, term.expr, [t.expr for t in terms]))

    axes = [BlockAxis(SPATIAL, dims[dim]) for dim in order]
    append_nest(draft, name, axes, body)
    return next(t for t in draft.tensors if t.buffer.same_as(made[0].buffer))


def draw_reshape(draft: FunctionDraft) -> None:
    """The elements of a tensor in row-major order under other dims."""
    options = [t for t in recent(draft) if t.dims and all(d.static and d.value for d in t.dims)]
    source = pick_recent(draft, options)
    count = source.elements
    factor = next((f for f in (draft.source.pick((2, 3, 4, 8)), 2, 1) if count % f == 0), 1)
    dims = [draft.extent(count // factor), draft.extent(factor)]
    if draft.source.flip(draft.knobs.blocks.flat):
        dims = [draft.extent(count)]

    def value(terms: list[Term]) -> Term:
        flat = terms[0].expr
        if len(dims) == 2:
            flat = tirx.Add(tirx.Mul(flat, draft.number(factor)), terms[1].expr)
        return load(source, _unravelled(draft, flat, source))

    draft.features.add("reshape")
    _stage(draft, draft.new_name("reshape"), dims, value, [])


def _unravelled(draft: FunctionDraft, flat: Expr, tensor: DraftTensor) -> list[Expr]:
    """The indices of the element at a row-major position."""
    indices: list[Expr] = []
    stride = 1
    for number, dim in reversed(list(enumerate(tensor.dims))):
        index = flat if stride == 1 else tirx.FloorDiv(flat, draft.number(stride))
        indices.append(index if number == 0 else tirx.FloorMod(index, draft.number(dim.value)))
        stride *= dim.value
    assert product_range(*tensor.dims).high == stride - 1
    return indices[::-1]


def draw_apart(draft: FunctionDraft) -> None:
    """An elementwise block of an input, which has nothing to do with the stages before: loops of both can merge."""
    others = [t for t in draft.tensors if t.role != "input"]
    draft.tensors = [t for t in draft.tensors if t.role == "input"]
    draw_pointwise(draft)
    draft.tensors += others


def draw_divided(draft: FunctionDraft) -> None:
    """Two elements at a quotient and a remainder of the last axis: indices that are worth to be computed first."""
    options = [t for t in recent(draft) if t.dims and all(d.static and d.value for d in t.dims)]
    tensor = pick_recent(draft, options)
    divisor = draft.source.pick((2, 3, 4))
    last = tensor.dims[-1]
    dims = [*tensor.dims[:-1], draft.extent(last.value * divisor)]

    def value(terms: list[Term]) -> Term:
        lead, inner = [t.expr for t in terms[:-1]], terms[-1].expr
        quotient, rest = (node(inner, draft.number(divisor)) for node in (tirx.FloorDiv, tirx.FloorMod))
        wrapped = tirx.FloorMod(tirx.Add(quotient, rest), draft.number(last.value))
        element, other = load(tensor, [*lead, quotient]), load(tensor, [*lead, wrapped])
        return both(draft, element, other)

    draft.features.add("divided")
    _stage(draft, draft.new_name("div"), dims, value, [])


def draw_padding(draft: FunctionDraft) -> None:
    """A tensor with constants around it, for decompose_padding."""
    options = [t for t in recent(draft) if t.dims and t.dtype != "bool" and t.elements <= 256]
    tensor = pick_recent(draft, options)
    before = [favour(draft.source, 1, 0, 2) for _ in tensor.dims]
    after = [draft.source.pick((0, 1, 2)) for _ in tensor.dims]
    dims = [_grown(draft, d, a + b) for d, a, b in zip(tensor.dims, before, after, strict=True)]
    fill = constant(favour(draft.source, 0, 1), tensor.dtype)

    def value(terms: list[Term]) -> Term:
        inside: Expr | None = None
        indices = []
        for term, dim, low, high in zip(terms, tensor.dims, before, after, strict=True):
            tests = [tirx.LE(draft.number(low), term.expr)] if low else []
            if high:
                end = draft.number(dim.value + low) if dim.static else tirx.Add(dim.expr, draft.number(low))
                tests.append(tirx.LT(term.expr, end))
            for test in tests:
                inside = test if inside is None else tirx.And(inside, test)
            indices.append(tirx.Sub(term.expr, draft.number(low)) if low else term.expr)
        element = load(tensor, indices)
        return element if inside is None else chosen(inside, element, fill, lazily=True)

    draft.features.add("padding")
    _stage(draft, draft.new_name("pad"), dims, value, [])


def _grown(draft: FunctionDraft, dim: Extent, by: int) -> Extent:
    if dim.static:
        return draft.extent(dim.value + by)
    if not by:
        return dim
    grown = tirx.Add(dim.expr, draft.number(by))
    return Extent(f"{dim.text} + {by}", dim.value + by, dim.low + by, dim.high + by, grown)


def draw_copy(draft: FunctionDraft) -> None:
    """A copy of a tensor, possibly in another dtype: cached reads and writes look like this."""
    tensor = pick_recent(draft, recent(draft))
    dtype = draft.draw_dtype()

    def value(terms: list[Term]) -> Term:
        element = load(tensor, [t.expr for t in terms])
        if dtype in (element.dtype, "bool") or not draft.source.flip():
            return element
        return converted(Operands(draft, [element], terms), element, dtype)

    _stage(draft, draft.new_name("copy"), list(tensor.dims), value, [])


def draw_in_place(draft: FunctionDraft) -> None:
    """A block that overwrites its own operand, point by point."""
    options = [t for t in recent(draft) if t.role != "input" and t.dtype != "bool" and t.dims]
    tensor = pick_recent(draft, options)
    name = draft.new_name("update")

    def body(terms: list[Term]) -> BlockBody:
        indices = [t.expr for t in terms]
        now = load(tensor, indices)
        other = draw_value(Operands(draft, [now], terms), tensor.dtype, 1)
        value = held(other, tensor.range, tensor.fraction)
        return BlockBody(tirx.BufferStore(tensor.buffer, value.expr, indices))

    draft.features.add("in_place")
    axes = [BlockAxis(SPATIAL, d) for d in tensor.dims]
    if draft.source.flip(draft.knobs.parts.share):
        axes = draw_parts(draft, axes)
    draft.statements.append(draw_nest(draft, name, axes, body))


def draw_scan(draft: FunctionDraft) -> None:
    """Each element from the one before: an axis whose iterations stay in order."""
    options = [t for t in recent(draft) if len(t.dims) == 1 and t.dtype not in ("bool", "uint8", "bfloat16", "float16")]
    tensor = pick_recent(draft, options)
    extent = tensor.dims[0]
    bound = int(capacity(tensor.dtype, tensor.fraction)) // 2
    if bound < tensor.range.magnitude:
        raise Unfit("a scan would overflow")
    output = result(draft, "S", (extent,), Term(None, tensor.dtype, Range(-bound, bound, True), tensor.fraction))

    def body(terms: list[Term]) -> BlockBody:
        here = terms[0].expr
        before = load(output, [tirx.Sub(here, draft.number(1))])
        before = chosen(tirx.LT(draft.number(0), here), before, constant(0, tensor.dtype), lazily=True)
        total = Term(tirx.Add(before.expr, load(tensor, [here]).expr), tensor.dtype, before.range + tensor.range)
        return BlockBody(tirx.BufferStore(output.buffer, clipped(total, float(bound)).expr, [here]), simple=False)

    draft.features.add("scan")
    draft.statements.append(draw_nest(draft, draft.new_name("scan"), [BlockAxis(OPAQUE, extent)], body, plain=True))


def draw_special(draft: FunctionDraft) -> None:
    """Operations that mean the same for NaN, infinities, signed zeros and subnormals everywhere."""
    tensor = pick_recent(draft, recent(draft, special=True))
    kind = draft.source.pick(("select", "isnan", "compare", "widen", "abs"))

    def value(terms: list[Term]) -> Term:
        x = load(tensor, [t.expr for t in terms])
        zero = constant(0, x.dtype)
        if kind == "isnan":
            return truth(tirx.isnan(x.expr))
        if kind == "compare":
            return truth(draft.source.pick((tirx.LT, tirx.GE, tirx.EQ, tirx.NE))(x.expr, zero.expr))
        if kind == "select":
            return chosen(tirx.LT(x.expr, zero.expr), constant(1, x.dtype), x, lazily=draft.source.flip())
        if kind == "widen":
            return cast(x, "float64")
        return Term(tirx.abs(x.expr), x.dtype, x.range)

    final, draft.final = draft.final, True
    made = _stage(draft, draft.new_name("special"), list(tensor.dims), value, [], "N")
    draft.final = final
    if is_float(made.dtype):
        draft.tensors[draft.tensors.index(made)] = DraftTensor(
            made.buffer, made.name, made.dims, made.dtype, made.range, made.fraction, made.role, True
        )
    draft.features.add("special_values")
