"""Recipes of calls below the operators: call_tir in place, destination passing, annotated PrimFuncs; and of
operators that a backend dispatches."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, partial

import tvm
from tvm import relax, te, tirx

from generators import tvm_api
from generators.passes.replacements import REPLACED, Replaced
from generators.program_facts import Feature
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.calls_and_ifs import draw_extern
from generators.relax.scope import EVERY, Drawn, Scope
from generators.relax.tir_calls import added_in_place, draw_call_tir, draw_call_tir_inplace, fresh_copy
from generators.relax.values import Value
from generators.tvm_api import BaseFunc, Expr, PrimFunc
from generators.unavailable import Unavailable


@cache
def _add(n: int, name: str) -> PrimFunc:
    """The sum of two vectors of `n`, annotated as the operator `name` that AlterOpImpl replaces."""
    x, y = (te.placeholder((n,), "float32", name=letter) for letter in "AB")
    out = te.compute((n,), lambda i: x[i] + y[i], name="add")
    return te.create_prim_func([x, y, out]).without_attr("global_symbol").with_attr("operator_name", name)


@cache
def _with_preproc(m: int, n: int, sign: str) -> PrimFunc:
    """A (m, n) plus or minus a transposed (n, m) weight that a block of its own brings into layout first."""
    x, w = te.placeholder((m, n), "float32", name="A"), te.placeholder((n, m), "float32", name="W")
    marks = {"meta_schedule.layout_rewrite_preproc": True}
    r = te.compute((m, n), lambda i, j: w[j, i], name="rewrite", attrs=marks)
    combined = (lambda i, j: x[i, j] + r[i, j]) if sign == "+" else (lambda i, j: x[i, j] - r[i, j])
    out = te.compute((m, n), combined, name="compute", attrs={"layout_free_placeholders": [w]})
    return te.create_prim_func([x, w, out]).without_attr("global_symbol")


def _call_tir(s: Scope, function: BaseFunc, operands: list[Value], values: Range) -> Value:
    """A call of a new PrimFunc whose result has the type of the first operand."""
    module = s.frame.module
    gvar = module.add(module.new_name("prim"), function)
    ty = tvm_api.type_of(operands[0].expr)
    return b.call(s, relax.op.call_tir(gvar, relax.Tuple([o.expr for o in operands]), ty), values)


def operator_name_add16(s: Scope) -> None:
    """call_tir of a vector addition that AlterOpImpl knows by name, chained, its operands reshaped or used again."""
    x = b.operand(s, (16,))
    x = b.unary(s, x) if s.source.flip() else x
    function = _add(16, "passfuzz.add16")
    y = s.like(x)
    out = _call_tir(s, function, [x, y], x.range + y.range)
    for _ in range(s.source.integer(0, 2)):
        other = s.source.pick((x, y, out))
        out = _call_tir(s, function, [out, other], out.range + other.range)
        if s.source.flip(KNOBS.lowered.unary_between):
            out = b.unary(s, out)
    if s.source.flip(KNOBS.lowered.name_unknown):
        eight = b.operand(s, (8,))
        other_shape = _add(8, "passfuzz.add8")
        b.keep(s, _call_tir(s, other_shape, [eight, eight], eight.range + eight.range))
    b.finish(s, out)


def _combined(a: te.Tensor, c: te.Tensor, sign: Callable[[Expr, Expr], Expr], *indices: Expr) -> Expr:
    return sign(a(*indices), c(*indices))


@cache
def _replaced(row: Replaced) -> PrimFunc:
    """The operator as it is before its replacement."""
    a, c = (te.placeholder(row.shape, row.dtype, name=letter) for letter in "AB")
    outs = [
        te.compute(row.shape, partial(_combined, a, c, sign), name=name)
        for name, sign in (("plus", operator.add), ("minus", operator.sub))[: row.outputs]
    ]
    return te.create_prim_func([a, c, *outs]).without_attr("global_symbol").with_attr("operator_name", row.name)


def _call_replaced(s: Scope, row: Replaced) -> Value:
    x = s.tensor((row.dtype,), dims=row.shape)
    y = s.like(x)
    gvar = s.frame.module.add(s.frame.module.new_name("prim"), _replaced(row))
    types = [tvm_api.tensor_type(row.shape, row.dtype)] * row.outputs
    call = relax.op.call_tir(gvar, relax.Tuple([x.expr, y.expr]), types if row.outputs > 1 else types[0])
    ranges = (x.range + y.range, x.range - y.range)[: row.outputs]
    if row.outputs == 1:
        return b.call(s, call, ranges[0])
    whole = s.emit(Drawn(call, ranges))
    if s.source.flip(KNOBS.lowered.outputs_whole):
        b.keep(s, b.alias(s, whole) if whole is not None else x)
    return b.tensor_item(s, whole, s.source.integer(0, 1))


def operator_names(s: Scope) -> None:
    """call_tir of one to three operators that AlterOpImpl knows by name, of several shapes, dtypes and outputs."""
    outs: list[Value] = []
    for _ in range(s.source.integer(1, 3)):
        row = s.source.pick(REPLACED)
        outs.append(_call_replaced(s, row))
        if s.source.flip(KNOBS.lowered.name_again):
            outs.append(_call_replaced(s, row))
        if s.source.flip(KNOBS.lowered.unary_between) and row.dtype.startswith("float"):
            outs.append(b.unary(s, outs[-1], b.SIMPLE_UNARY[:3]))
    b.finish(s, *outs)


def layout_rewrite_preproc(s: Scope) -> None:
    """call_tir of a PrimFunc that first rewrites the layout of a weight, called twice with shared or other weights."""
    m, n = s.source.pick(((2, 3), (4, 4), (1, 5), (3, 1)))
    sign = s.source.pick("+-")
    function = _with_preproc(m, n, sign)
    x = b.operand(s, (m, n))
    w = b.constant(s, (n, m)) if s.source.flip(KNOBS.lowered.weight_constant) else b.weight(s, (n, m))
    combine = Range.__add__ if sign == "+" else Range.__sub__
    out = _call_tir(s, function, [x, w], combine(x.range, w.range))
    if s.source.flip():
        again = w if s.source.flip() else b.operand(s, (n, m))
        out = _call_tir(s, function, [out, again], combine(out.range, again.range))
    if s.source.flip(KNOBS.lowered.weight_read):
        b.keep(s, b.relu(s, w))
    b.finish(s, out)


def call_tir_inplace(s: Scope) -> None:
    """call_tir_inplace on a copy, and a call_tir of the result."""
    draw_call_tir_inplace(s)
    out = s.values[-1]
    if s.source.flip():
        draw_call_tir(s)
    b.finish(s, out)


def in_place_updates(s: Scope) -> None:
    """A copy that kernels update in place one to three times, with a reader before the first and after each. Lowered,
    they all have the same tensor, and only their order says which of its states a reader sees.

    What a reader gives is returned and else not used: a pass that moves a reader to its user finds no user after an
    update, of which a graph does not tell that it ends the life of the copy.
    """
    x = s.tensor(("float32", "int32"), (2, 2), nonempty=True)
    state = fresh_copy(s, x)
    factor = s.source.pick(KNOBS.lowered.reader_factors)
    read = [_reader(s, state, factor)] if s.source.flip(KNOBS.lowered.read_before) else []
    for _ in range(s.source.integer(*KNOBS.lowered.in_place_updates)):
        state = added_in_place(s, state, s.like(x))
        if state in s.values:
            s.values.remove(state)
        read.append(_reader(s, state, factor))
    for value in read:
        b.keep(s, value)


def _reader(s: Scope, x: Value, factor: int) -> Value:
    """A kernel that reads a tensor, whose result nothing else reads."""
    scale = tirx.const(factor, x.dtype)
    a = te.placeholder([tirx.Var(f"d{axis}", "int64") for axis in range(x.ndim)], x.dtype, name="A")
    out = te.compute(a.shape, lambda *i: a(*i) * scale, name="read")
    function = te.create_prim_func([a, out]).without_attr("global_symbol")
    value = _call_tir(s, function, [x], x.range.scaled(factor))
    if value in s.values:
        s.values.remove(value)
    return value


def dps_packed(s: Scope) -> None:
    """Destination-passing calls of packed functions, chained with operators."""
    b.unary(s, b.tensor(s, (0, 3), dtype="float32"))
    before = len(s.values)
    for _ in range(s.source.integer(1, 3)):
        draw_extern(s)
    b.finish(s, *[v for v in s.values[before:] if isinstance(v, Value)][-2:])


def sort_scan(s: Scope) -> None:
    """sort, argsort, topk, cumsum, cumprod and bucketize, one after the other where the result allows."""
    names = ("sort", "argsort", "topk", "cumsum", "cumprod", "bucketize")
    for _ in range(s.source.integer(1, 2)):
        value = b.row(s, *(f"relax.{name}" for name in names))
        b.finish(s, value)


def multinomial(s: Scope) -> None:
    """multinomial_from_uniform, its result used as an index or a number."""
    value = b.as_tensor(b.row(s, "relax.multinomial_from_uniform"))
    if s.source.flip():
        value = b.call(s, relax.op.astype(value.expr, "float32"), value.range)
    b.finish(s, value)


def hint_on_device(s: Scope) -> None:
    """Hints where values shall stand: of parameters, of computed values, both ways, with uses on either side."""
    devices = s.frame.module.vdevices
    if not devices:
        raise Unavailable("no device in this module")
    x = s.tensor(EVERY) if s.source.flip(KNOBS.lowered.hint_any_dtype) else b.tensor(s)
    y = b.unary(s, x) if x.dtype.startswith("float") and s.source.flip(KNOBS.lowered.hint_computed) else x
    hinted = _hint(s, y, s.source.integer(0, len(devices) - 1))
    out = b.unary(s, hinted) if hinted.dtype.startswith("float") else hinted
    if s.source.flip(KNOBS.lowered.hint_twice):
        out = _hint(s, out, s.source.integer(0, len(devices) - 1))
    b.finish(s, out)


def _hint(s: Scope, x: Value, index: int) -> Value:
    value = b.as_tensor(s.emit(Drawn(relax.op.hint_on_device(x.expr, tvm.cpu(index)), x.range)))
    s.frame.module.operators["relax.hint_on_device"] += 1
    return value


RECIPES = (
    Recipe("operator_name_add16", operator_name_add16),
    Recipe("operator_names", operator_names),
    Recipe("layout_rewrite_preproc", layout_rewrite_preproc),
    Recipe("call_tir_inplace", call_tir_inplace),
    Recipe("in_place_updates", in_place_updates, plain=True, costly=True),
    Recipe("dps_packed", dps_packed),
    Recipe("sort_scan", sort_scan),
    Recipe("multinomial", multinomial, costly=True),
    Recipe("hint_on_device", hint_on_device, wants=Feature.VDEVICE),
)
