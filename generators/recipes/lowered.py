"""Recipes of calls below the operators: call_tir in place, destination passing, annotated PrimFuncs; and of
operators that a backend dispatches."""

from __future__ import annotations

from functools import cache
from typing import Any

import tvm
from tvm import relax

from generators import tvm_api
from generators.operators.row import Unavailable
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.recipe import Recipe
from generators.relax.control import draw_extern
from generators.relax.scope import EVERY, Drawn, Scope
from generators.relax.tir_calls import draw_call_tir, draw_call_tir_inplace
from generators.relax.values import Value

_ADD = """
@T.prim_func(private=True, s_tir=True)
def add_vectors(A: T.Buffer(({n},), "float32"), B: T.Buffer(({n},), "float32"), C: T.Buffer(({n},), "float32")):
    T.func_attr({{"operator_name": "{name}", "tirx.noalias": True}})
    for i in range({n}):
        with T.sblock("add"):
            vi = T.axis.spatial({n}, i)
            C[vi] = A[vi] + B[vi]
"""
_PREPROC = """
@T.prim_func(private=True, s_tir=True)
def with_preproc(A: T.Buffer(({m}, {n}), "float32"), W: T.Buffer(({n}, {m}), "float32"),
                 C: T.Buffer(({m}, {n}), "float32")):
    T.func_attr({{"layout_free_buffers": [1], "tirx.noalias": True}})
    R = T.sblock_alloc_buffer(({m}, {n}))
    for i, j in T.grid({m}, {n}):
        with T.sblock("rewrite"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.sblock_attr({{"meta_schedule.layout_rewrite_preproc": T.bool(True)}})
            R[vi, vj] = W[vj, vi]
    for i, j in T.grid({m}, {n}):
        with T.sblock("compute"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] {sign} R[vi, vj]
"""


@cache
def _prim_func(text: str) -> Any:
    from tvm.script import from_source
    from tvm.script import tirx as script_tir

    return from_source(text, {"T": script_tir})


def _call_tir(s: Scope, function: Any, operands: list[Value], values: Range) -> Value:
    """A call of a new PrimFunc whose result has the type of the first operand."""
    module = s.frame.module
    gvar = module.add(module.new_name("prim"), function)
    ty = tvm_api.type_of(operands[0].expr)
    return b.call(s, relax.op.call_tir(gvar, relax.Tuple([o.expr for o in operands]), ty), values)


def operator_name_add16(s: Scope) -> None:
    """call_tir of a vector addition that AlterOpImpl knows by name, chained, its operands reshaped or used again."""
    x = b.operand(s, (16,))
    x = b.unary(s, x) if s.source.flip() else x
    function = _prim_func(_ADD.format(n=16, name="passfuzz.add16"))
    y = s.like(x)
    out = _call_tir(s, function, [x, y], x.range + y.range)
    for _ in range(s.source.integer(0, 2)):
        other = s.source.pick((x, y, out))
        out = _call_tir(s, function, [out, other], out.range + other.range)
        if s.source.flip(0.3):
            out = b.unary(s, out)
    if s.source.flip(0.2):
        eight = b.operand(s, (8,))
        other_shape = _prim_func(_ADD.format(n=8, name="passfuzz.add8"))
        b.keep(s, _call_tir(s, other_shape, [eight, eight], eight.range + eight.range))
    b.finish(s, out)


def layout_rewrite_preproc(s: Scope) -> None:
    """call_tir of a PrimFunc that first rewrites the layout of a weight, called twice with shared or other weights."""
    m, n = s.source.pick(((2, 3), (4, 4), (1, 5), (3, 1)))
    sign = s.source.pick("+-")
    function = _prim_func(_PREPROC.format(m=m, n=n, sign=sign))
    x = b.operand(s, (m, n))
    w = b.constant(s, (n, m)) if s.source.flip(0.3) else b.weight(s, (n, m))
    combine = Range.__add__ if sign == "+" else Range.__sub__
    out = _call_tir(s, function, [x, w], combine(x.range, w.range))
    if s.source.flip(0.5):
        again = w if s.source.flip() else b.operand(s, (n, m))
        out = _call_tir(s, function, [out, again], combine(out.range, again.range))
    if s.source.flip(0.3):
        b.keep(s, b.relu(s, w))
    b.finish(s, out)


def call_tir_inplace(s: Scope) -> None:
    """call_tir_inplace behind a copy, and a call_tir of the result."""
    draw_call_tir_inplace(s)
    out = s.values[-1]
    if s.source.flip():
        draw_call_tir(s)
    b.finish(s, out)


def dps_packed(s: Scope) -> None:
    """Destination-passing calls of packed functions, chained with operators."""
    b.unary(s, b.tensor(s, (0, 3), dtype="float32"))
    before = len(s.values)
    for _ in range(s.source.integer(1, 3)):
        draw_extern(s)
    b.finish(s, *[v for v in s.values[before:] if isinstance(v, Value)][-2:])


def sort_scan(s: Scope) -> None:
    """sort, argsort, topk, cumsum, cumprod and bucketize, one behind the other where the result allows."""
    names = ("sort", "argsort", "topk", "cumsum", "cumprod", "bucketize")
    for _ in range(s.source.integer(1, 2)):
        value = b.row(s, *(f"relax.{name}" for name in names))
        b.finish(s, value)


def multinomial(s: Scope) -> None:
    """multinomial_from_uniform, its result used as an index or a number."""
    value = b.as_tensor(b.row(s, "relax.multinomial_from_uniform"))
    if s.source.flip(0.5):
        value = b.call(s, relax.op.astype(value.expr, "float32"), value.range)
    b.finish(s, value)


def hint_on_device(s: Scope) -> None:
    """Hints where values shall stand: of parameters, of computed values, both ways, with uses on either side."""
    devices = s.frame.module.vdevices
    if not devices:
        raise Unavailable("no device in this module")
    x = s.tensor(EVERY) if s.source.flip(0.3) else b.tensor(s)
    y = b.unary(s, x) if x.dtype.startswith("float") and s.source.flip(0.6) else x
    hinted = _hint(s, y, s.source.integer(0, len(devices) - 1))
    out = b.unary(s, hinted) if hinted.dtype.startswith("float") else hinted
    if s.source.flip(0.3):
        out = _hint(s, out, s.source.integer(0, len(devices) - 1))
    b.finish(s, out)


def _hint(s: Scope, x: Value, index: int) -> Value:
    value = b.as_tensor(s.emit(Drawn(relax.op.hint_on_device(x.expr, tvm.cpu(index)), x.range)))
    s.frame.module.operators["relax.hint_on_device"] += 1
    return value


RECIPES = (
    Recipe("operator_name_add16", operator_name_add16),
    Recipe("layout_rewrite_preproc", layout_rewrite_preproc),
    Recipe("call_tir_inplace", call_tir_inplace),
    Recipe("dps_packed", dps_packed),
    Recipe("sort_scan", sort_scan),
    Recipe("multinomial", multinomial),
    Recipe("hint_on_device", hint_on_device, wants="vdevice"),
)
