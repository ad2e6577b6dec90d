"""Blocks that reduce: sums, products, extremes, windows, matrix products, and the two-value argmax."""

from __future__ import annotations

from collections.abc import Callable

from tvm import tirx

from generators.dtypes import is_float
from generators.ranges import Range
from generators.source import favour
from generators.tir.block_loops import REDUCE, SPATIAL, BlockAxis, BlockBody, draw_nest
from generators.tir.expressions import Operands, converted, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load, room
from generators.tir.multi_reads import MultiRead, both, draw_multi_read, load_multi_read
from generators.tir.partial_coverage import append_nest
from generators.tir.reads import points, read, scaled_range
from generators.tir.stages import pick_recent, recent, result
from generators.tir.terms import Term, cast, clipped, constant
from generators.tvm_api import Expr

_NODES: dict[str, Callable[[Expr, Expr], Expr]] = {
    "sum": tirx.Add,
    "product": tirx.Mul,
    "max": tirx.Max,
    "min": tirx.Min,
}
_ACCUMULATORS = {
    "int8": ("int32", "int16", "int8"),
    "uint8": ("int32", "uint8"),
    "int16": ("int32", "int64", "int16"),
    "int32": ("int32", "int64"),
    "float16": ("float32", "float16"),
    "bfloat16": ("float32", "bfloat16"),
    "float32": ("float32", "float64"),
}


def _nonempty(dims: tuple[Extent, ...]) -> bool:
    return all(d.static and d.value for d in dims)


def _accumulator(draft: FunctionDraft, dtype: str) -> str:
    options = _ACCUMULATORS.get(dtype, (dtype,))
    return options[0] if draft.source.flip(draft.knobs.reductions.widest_accumulator) else draft.source.pick(options)


def draw_reduction(draft: FunctionDraft) -> None:
    """A sum, product or extreme over some axes of a tensor."""
    options = [t for t in recent(draft) if t.dims and t.dtype != "bool" and t.elements <= draft.knobs.max_elements]
    tensor = pick_recent(draft, options)
    several = draw_multi_read(draft, tensor)
    dims = list(several.axes if several else tensor.dims)
    over = {draft.source.integer(0, len(dims) - 1) for _ in range(draft.source.integer(1, 2))}
    if draft.source.flip(draft.knobs.reductions.unit_reduction):
        over = {len(dims)}
        dims.append(draft.extent(1))
    kind = favour(draft.source, "sum", "max", "min", "product")
    if any(dims[i].low < 1 for i in over):
        raise Unfit("nothing is written where an axis that is reduced is empty, not even the init")
    _reduce(draft, kind, dims, over, tensor, several)


def _reduce(
    draft: FunctionDraft, kind: str, dims: list[Extent], over: set[int], tensor: DraftTensor, several: MultiRead | None
) -> None:
    """The block over `dims`, of which the axes `over` are reduced."""
    count = 1
    for axis in over:
        count *= dims[axis].high
    dtype = _accumulator(draft, tensor.dtype)
    name = draft.new_name("red")

    def body(terms: list[Term]) -> BlockBody:
        if several is None:
            element = read(draft, tensor, points(terms, dims), straight=draft.knobs.reads.straight_reduced)
        else:
            element = load_multi_read(draft, several, terms)
        if draft.source.flip(draft.knobs.reductions.reduced_expression):
            drawn = draw_value(Operands(draft, [element], terms), tensor.dtype, 1)
            element = both(draft, element, drawn) if several else drawn
        spatial = [(i, t) for i, t in enumerate(terms) if i not in over]
        kept = tuple(dims[i] for i, _ in spatial)
        return _accumulated(draft, kind, element, dtype, kept, [t.expr for _, t in spatial], count)

    axes = [BlockAxis(REDUCE if i in over else SPATIAL, d) for i, d in enumerate(dims)]
    draft.features.add(f"reduce_{kind}")
    append_nest(draft, name, axes, body)


def _accumulated(
    draft: FunctionDraft,
    kind: str,
    element: Term,
    dtype: str,
    kept: tuple[Extent, ...],
    indices: list[Expr],
    count: int,
) -> BlockBody:
    """`out[indices] = combine(out[indices], element)` with its init, into a new tensor."""
    value = _summand(draft, kind, element, dtype, count)
    biased = kind != "product" and draft.source.flip(draft.knobs.reductions.biased)
    if biased:
        draft.features.add("biased")
    if kind == "sum":
        init = constant(draft.source.integer(1, 3) if biased else 0, dtype)
        values = scaled_range(value.range, count) + init.range
    elif kind == "product":
        values, init = Range(-1, 1, True), constant(1, dtype)
        values = values.clipped(0, 1) if value.range.low >= 0 else values
    else:
        values = value.range
        extreme = tirx.min_value(dtype) if kind == "max" else tirx.max_value(dtype)
        init = Term(extreme, dtype, values)
        if biased:
            init = constant(draft.source.integer(0, 3), dtype)
            values = values.hull(init.range)
    fraction = value.fraction if kind != "product" else 0
    tensor = result(draft, "R", kept, Term(None, dtype, values, fraction))
    now = load(tensor, indices)
    update = tirx.BufferStore(tensor.buffer, _NODES[kind](now.expr, value.expr), indices)
    return BlockBody(update, tirx.BufferStore(tensor.buffer, init.expr, indices))


def _summand(draft: FunctionDraft, kind: str, element: Term, dtype: str, count: int) -> Term:
    """The element in the accumulator's dtype, small enough for `count` of them."""
    if element.dtype != dtype:
        element = converted(Operands(draft), element, dtype)
    if kind == "product":
        whole = element if element.fraction == 0 else Term(tirx.floor(element.expr), dtype, element.range)
        return clipped(whole, 1.0)
    if kind == "sum":
        bound = (room(dtype, count + 1) >> element.fraction) - 1
        if bound < 1:
            raise Unfit("a sum would overflow")
        return clipped(element, float(bound))
    return element


def draw_window(draft: FunctionDraft) -> None:
    """A pool or a correlation along one axis: neighbouring windows overlap, so that buffers can roll."""
    options = [t for t in recent(draft) if t.dims and _nonempty(t.dims) and t.dtype != "bool"]
    options = [t for t in options if max(d.value for d in t.dims) >= 3]
    tensor = pick_recent(draft, options)
    axis = max(range(len(tensor.dims)), key=lambda i: tensor.dims[i].value)
    length = tensor.dims[axis].value
    size = draft.source.integer(2, min(3, length))
    stride = favour(draft.source, 1, 2)
    windows = draft.extent((length - size) // stride + 1)
    dims = [*tensor.dims[:axis], windows, *tensor.dims[axis + 1 :]]
    kind = draft.source.pick(("sum", "max", "min"))
    dtype = _accumulator(draft, tensor.dtype)

    def body(terms: list[Term]) -> BlockBody:
        spatial, tap = terms[:-1], terms[-1]
        indices = [t.expr for t in spatial]
        start = indices[axis] if stride == 1 else tirx.Mul(indices[axis], draft.number(stride))
        at = [*indices[:axis], tirx.Add(start, tap.expr), *indices[axis + 1 :]]
        return _accumulated(draft, kind, load(tensor, at), dtype, tuple(dims), indices, size)

    axes = [*(BlockAxis(SPATIAL, d) for d in dims), BlockAxis(REDUCE, draft.extent(size))]
    draft.features.add("window")
    append_nest(draft, draft.new_name("win"), axes, body)


def draw_matmul(draft: FunctionDraft) -> None:
    """A matrix product in one of its layouts: pad_einsum and tensor intrinsics look for it."""
    options = [t for t in recent(draft) if len(t.dims) == 2 and t.dtype != "bool"]
    left = pick_recent(draft, options)
    rows, inner = left.dims
    columns = draft.extent(draft.source.pick((4, 8, 3, 5, 16, 1)))
    if inner.high * columns.high > draft.knobs.max_elements or inner.low < 1:
        raise Unfit("too large, or nothing to add up")
    transposed = draft.source.flip(draft.knobs.reductions.matmul_transposed)
    shape = (columns, inner) if transposed else (inner, columns)
    mixed = left.dtype in ("uint8", "int8") and draft.source.flip(draft.knobs.reductions.matmul_mixed)
    right = next((t for t in options if t is not left and t.dims == shape and t.dtype == left.dtype), None)
    if right is None or mixed:
        weights = "int8" if mixed else left.dtype
        top = draft.source.pick((2, 7, 60)) if mixed else 2  # int8 does not hold all of these products
        values = Range(0 if weights.startswith("u") else -top, top, True)
        right = draft.add_tensor("W", shape, weights, values, role="input")
    dtype = "int32" if mixed else _accumulator(draft, left.dtype)

    def body(terms: list[Term]) -> BlockBody:
        i, j, k = (t.expr for t in terms)
        one, other = load(left, [i, k]), load(right, [j, k] if transposed else [k, j])
        product = _product(draft, one, other, dtype, inner.high)
        return _accumulated(draft, "sum", product, dtype, (rows, columns), [i, j], inner.high)

    axes = [BlockAxis(SPATIAL, rows), BlockAxis(SPATIAL, columns), BlockAxis(REDUCE, inner)]
    draft.features.add("matmul")
    append_nest(draft, draft.new_name("mm"), axes, body)


def _product(draft: FunctionDraft, one: Term, other: Term, dtype: str, count: int) -> Term:
    """A product of two elements in the accumulator's dtype, of which `count` can be added up."""
    fraction = one.fraction + other.fraction
    values = one.range * other.range
    if values.magnitude * count * 2**fraction > room(dtype, 1):
        raise Unfit("a sum of products would overflow")
    factors = [cast(t, dtype).expr for t in (one, other)]
    return Term(tirx.Mul(*factors), dtype, values, fraction if is_float(dtype) else 0)


def draw_bias(draft: FunctionDraft) -> None:
    """A vector added to a sum: the form that fuse_reduction_epilogue looks for."""
    sums = [t for t in recent(draft) if t.role == "local" and t.name.startswith("R") and t.dims]
    total = pick_recent(draft, sums)
    values = Range(0 if total.dtype.startswith("u") else -4, 4, True)
    last = total.dims[-1]
    if total.range.magnitude + 4 > room(total.dtype, 1) >> total.fraction:
        raise Unfit("a biased sum would overflow")
    whole = draft.source.flip(draft.knobs.reductions.whole_bias)
    bias = draft.add_tensor("V", total.dims if whole else (last,), total.dtype, values, role="input")
    at_point: Callable[[list[Expr]], list[Expr]] = (lambda i: i) if whole else (lambda i: i[-1:])
    term = Term(None, total.dtype, total.range + values, total.fraction)
    output = result(draft, "B", total.dims, term)

    def body(terms: list[Term]) -> BlockBody:
        indices = [t.expr for t in terms]
        value = tirx.Add(load(total, indices).expr, load(bias, at_point(indices)).expr)
        return BlockBody(tirx.BufferStore(output.buffer, value, indices))

    draft.features.add("bias")
    axes = [BlockAxis(SPATIAL, d) for d in total.dims]
    draft.statements.append(draw_nest(draft, draft.new_name("bias"), axes, body, plain=True))


def draw_argmax(draft: FunctionDraft) -> None:
    """The largest (or smallest) element along the last axis and where it is.

    Elements are made distinct first, since which of two equal ones is found depends on the order.
    """
    options = [t for t in recent(draft) if t.dims and t.dtype in ("int32", "int64", "float32") and not t.fraction]
    options = [t for t in options if _nonempty(t.dims[-1:]) and t.range.magnitude <= 4096]
    tensor = pick_recent(draft, options)
    length = tensor.dims[-1].value
    distinct = draft.add_tensor("D", tensor.dims, tensor.dtype, tensor.range.scaled(length) + Range(0, length, True))
    largest = draft.source.flip()

    def spread(terms: list[Term]) -> BlockBody:
        indices = [t.expr for t in terms]
        scaled = tirx.Mul(load(tensor, indices).expr, constant(length, tensor.dtype).expr)
        position = tirx.Cast(tensor.dtype, indices[-1]) if tensor.dtype != draft.index_dtype else indices[-1]
        return BlockBody(tirx.BufferStore(distinct.buffer, tirx.Add(scaled, position), indices))

    axes = [BlockAxis(SPATIAL, d) for d in tensor.dims]
    draft.statements.append(draw_nest(draft, draft.new_name("spread"), axes, spread))
    kept = tensor.dims[:-1]
    where = Term(None, "int32", Range(-1, length - 1, True))
    found = result(draft, "P", kept, where)
    best = result(draft, "M", kept, Term(None, tensor.dtype, distinct.range))

    def body(terms: list[Term]) -> BlockBody:
        return _argmax_body(draft, [t.expr for t in terms], distinct, found, best, largest)

    draft.features.add("argmax")
    axes = [*(BlockAxis(SPATIAL, d) for d in kept), BlockAxis(REDUCE, tensor.dims[-1])]
    draft.statements.append(draw_nest(draft, draft.new_name("arg"), axes, body))


def _argmax_body(
    draft: FunctionDraft, at: list[Expr], distinct: DraftTensor, found: DraftTensor, best: DraftTensor, largest: bool
) -> BlockBody:
    """In the form in which rfactor knows the reducer (src/s_tir/schedule/primitive/reduction.cc)."""
    out, position = at[:-1], at[-1]
    index = position if draft.index_dtype == "int32" else tirx.Cast("int32", position)
    element, now, where = (load(t, i).expr for t, i in ((distinct, at), (best, out), (found, out)))
    better = tirx.GE(now, element) if largest else tirx.LE(now, element)
    names = [tirx.Var(draft.new_name("x"), dtype) for dtype in ("int32", distinct.dtype)]
    update = [
        tirx.Bind(names[0], tirx.Select(better, where, index)),
        tirx.Bind(names[1], tirx.Select(better, now, element)),
        tirx.BufferStore(found.buffer, names[0], out),
        tirx.BufferStore(best.buffer, names[1], out),
    ]
    extreme = tirx.min_value(distinct.dtype) if largest else tirx.max_value(distinct.dtype)
    init = [
        tirx.BufferStore(found.buffer, tirx.IntImm("int32", -1), out),
        tirx.BufferStore(best.buffer, extreme, out),
    ]
    return BlockBody(tirx.SeqStmt(update), tirx.SeqStmt(init))
