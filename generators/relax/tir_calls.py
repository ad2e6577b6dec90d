"""PrimFuncs for call_tir and call_tir_inplace, simple on purpose: the TIR generator proper comes with its own room.

Each template gives a PrimFunc for exact dims, the range of its result, and the result's type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import tvm
from tvm import relax, s_tir, te, tirx

from generators import tvm_api
from generators.ranges import Range
from generators.relax.body import Statement
from generators.relax.scope import Drawn, Scope
from generators.relax.values import AnyValue, Dim, Value, dim_expr
from generators.tvm_api import Expr, GlobalVar, PrimFunc, Var

_DTYPES = ("float32", "int32", "float16", "int64")


@dataclass(frozen=True, slots=True)
class TeFunction:
    """A PrimFunc's tensors: inputs, outputs, and the range of each output."""

    tensors: list[te.Tensor]
    outputs: list[tuple[tuple[Dim, ...], str]]
    ranges: tuple[Range, ...]


def _placeholder(value: Value, name: str, symbols: dict[str, Var]) -> te.Tensor:
    """A TE placeholder with the dims of `value`; a symbolic dim is one fresh symbol per text."""
    assert value.dims is not None
    shape = [
        d if isinstance(d, int) else symbols.setdefault(d.text, tirx.Var(f"d{len(symbols)}", "int64"))
        for d in value.dims
    ]
    return te.placeholder(shape, value.dtype, name=name)


def _symbol(symbols: dict[str, Var], text: str) -> Var:
    return symbols.setdefault(text, tirx.Var(f"d{len(symbols)}", "int64"))


def _affine(s: Scope) -> tuple[list[Value], TeFunction]:
    x = s.tensor(_DTYPES, (1, 4))
    factor, offset = s.source.pick((1, 2, -1, 3)), s.source.integer(-2, 2)
    a = _placeholder(x, "A", {})
    scale, shift = (tirx.const(k, x.dtype) for k in (factor, offset))
    b = te.compute(a.shape, lambda *i: a(*i) * scale + shift, name="affine")
    return [x], TeFunction([a, b], [(x.dims or (), x.dtype)], (x.range.scaled(factor) + Range(offset, offset, True),))


def _pairwise(s: Scope) -> tuple[list[Value], TeFunction]:
    x = s.tensor(_DTYPES, (1, 4))
    y = s.like(x)
    symbols: dict[str, Var] = {}
    a, b = _placeholder(x, "A", symbols), _placeholder(y, "B", symbols)
    c = te.compute(a.shape, lambda *i: a(*i) + b(*i), name="pairwise")
    return [x, y], TeFunction([a, b, c], [(x.dims or (), x.dtype)], (x.range + y.range,))


def _row_sum(s: Scope) -> tuple[list[Value], TeFunction]:
    x = s.tensor(_DTYPES, (1, 3), static=True, nonempty=True)
    a = _placeholder(x, "A", {})
    k = te.reduce_axis((0, a.shape[-1]), "k")
    b = te.compute(a.shape[:-1], lambda *i: te.sum(a(*i, k), axis=k), name="row_sum")
    assert x.dims is not None
    count = int(str(x.dims[-1]))
    return [x], TeFunction([a, b], [(x.dims[:-1], x.dtype)], (x.range.summed(count),))


def _swapped(s: Scope) -> tuple[list[Value], TeFunction]:
    x = s.tensor(_DTYPES, (2, 2))
    a = _placeholder(x, "A", {})
    b = te.compute((a.shape[1], a.shape[0]), lambda i, j: a[j, i], name="swapped")
    assert x.dims is not None
    return [x], TeFunction([a, b], [((x.dims[1], x.dims[0]), x.dtype)], (x.range,))


def _two_outputs(s: Scope) -> tuple[list[Value], TeFunction]:
    x = s.tensor(_DTYPES, (1, 3))
    a = _placeholder(x, "A", {})
    one = tirx.const(1, x.dtype)
    b = te.compute(a.shape, lambda *i: a(*i) + one, name="more")
    c = te.compute(a.shape, lambda *i: b(*i) + b(*i), name="twice")
    up = x.range + Range(1, 1, True)
    return [x], TeFunction([a, b, c], [(x.dims or (), x.dtype)] * 2, (up, up + up))


_DIVISIONS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "floordiv": tirx.floordiv,
    "floormod": tirx.floormod,
    "truncdiv": tirx.truncdiv,
    "truncmod": tirx.truncmod,
}


def _integer_range(name: str, values: Range, divisor: int) -> Range:
    """Whole numbers divided by a positive one."""
    if name == "floormod":
        return Range(0, divisor - 1, True)
    if name == "truncmod":
        return Range(1 - divisor if values.low < 0 else 0, divisor - 1, True)
    return Range(math.floor(values.low / divisor), math.ceil(values.high / divisor), True)


def _integer(s: Scope) -> tuple[list[Value], TeFunction]:
    """Divisions of loaded integers, negative ones too, by a constant: alone, and in sums as index arithmetic has."""
    x = s.tensor(("int32", "int64", "int8"), (1, 4))
    first, second = (s.source.pick(tuple(_DIVISIONS)) for _ in range(2))
    one, other = s.source.integer(1, 5), s.source.integer(1, 4)
    a = _placeholder(x, "A", {})
    by, then = tirx.const(one, x.dtype), tirx.const(other, x.dtype)
    ranges = _integer_range(first, x.range, one)
    if s.source.flip():
        b = te.compute(a.shape, lambda *i: _DIVISIONS[first](a(*i), by), name="divided")
    else:
        ranges = ranges.scaled(other) + _integer_range(second, x.range, one)
        b = te.compute(
            a.shape, lambda *i: _DIVISIONS[first](a(*i), by) * then + _DIVISIONS[second](a(*i), by), name="divided"
        )
    return [x], TeFunction([a, b], [(x.dims or (), x.dtype)], (ranges,))


_TEMPLATES: tuple[Callable[[Scope], tuple[list[Value], TeFunction]], ...] = (
    _affine,
    _pairwise,
    _row_sum,
    _swapped,
    _two_outputs,
    _integer,
)


def draw_call_tir(s: Scope) -> None:
    """A call_tir of a new PrimFunc; symbolic dims come in through the buffers' shapes."""
    operands, body = s.source.pick(_TEMPLATES)(s)
    call_of(s, kernel_of(s, body), operands, body)


def kernel_of(s: Scope, body: TeFunction) -> GlobalVar:
    """The name of a new PrimFunc of these tensors."""
    function = te.create_prim_func(body.tensors).without_attr("global_symbol")
    module = s.frame.module
    return module.add(module.new_name("prim"), function)


def call_of(s: Scope, kernel: GlobalVar, operands: Sequence[Value], body: TeFunction) -> AnyValue | None:
    """Binds a call_tir of the kernel, whose results have the types and the ranges of these tensors."""
    types = [tvm_api.tensor_type([dim_expr(d) for d in dims], dtype) for dims, dtype in body.outputs]
    out = types[0] if len(types) == 1 else types
    call = relax.op.call_tir(kernel, relax.Tuple([v.expr for v in operands]), out)
    return s.emit(Drawn(call, body.ranges[0] if len(types) == 1 else body.ranges))


@cache
def _add_in_place(dtype: str) -> PrimFunc:
    """Adds its second matrix into its first. Made node by node: TE has no in-place computation, and a script takes
    as long to parse as a whole program to draw."""
    extents = [tirx.Var("n", "int64"), tirx.Var("m", "int64")]
    a, b = (tirx.decl_buffer(extents, dtype, name) for name in "AB")
    loops, index = ([tirx.Var(name, "int64") for name in names] for names in (("i", "j"), ("vi", "vj")))
    spatial = tirx.IterVar.DataPar
    axes = [tirx.IterVar(tvm.ir.Range(0, n), v, spatial) for n, v in zip(extents, index, strict=True)]
    point = [tvm.ir.Range.from_min_extent(v, 1) for v in index]
    read_a, read_b = tirx.BufferRegion(a, point), tirx.BufferRegion(b, point)
    store = tirx.BufferStore(a, tirx.BufferLoad(a, index) + tirx.BufferLoad(b, index), index)
    body = s_tir.SBlockRealize(loops, True, s_tir.SBlock(axes, [read_a, read_b], [read_a], "add", store))
    for loop, extent in reversed(list(zip(loops, extents, strict=True))):
        body = tirx.For(loop, 0, extent, tirx.ForKind.SERIAL, body)
    root = s_tir.SBlockRealize([], True, s_tir.SBlock([], [], [], "root", body))
    return tvm_api.prim_func([a, b], root).with_attr({"tirx.noalias": True, "s_tir": True})


def fresh_copy(s: Scope, x: Value) -> Value:
    """A copy of a matrix plus a number that no other statement adds, out of scope.

    A pass that takes two equal calls for one may not share the copy with another reader, but cannot see that it is
    overwritten (relax.op.call_tir_inplace counts as pure).
    """
    number = 11 + s.frame.module.serial
    added = tvm_api.constant(np.array(number, x.dtype), x.dtype)
    copy = s.emit_tensor(Drawn(relax.op.add(x.expr, added), x.range + Range(number, number, True)))
    s.values.remove(copy)
    return copy


def added_in_place(s: Scope, copy: Value, y: Value) -> Value:
    """The copy, into which a new kernel adds another matrix."""
    module = s.frame.module
    gvar = module.add(module.new_name("prim"), _add_in_place(copy.dtype))
    ty = tvm_api.type_of(copy.expr)
    call = relax.op.call_tir_inplace(gvar, relax.Tuple([copy.expr, y.expr]), 0, ty)
    return s.emit_tensor(Drawn(call, copy.range + y.range))


def draw_call_tir_inplace(s: Scope) -> None:
    """A call_tir_inplace whose destination is a fresh copy that nothing else reads."""
    x = s.tensor(("float32", "int32"), (2, 2))
    y = s.like(x)
    added_in_place(s, fresh_copy(s, x), y)


TIR_CALLS = (
    Statement("call_tir", 4, draw_call_tir),
    Statement("call_tir_inplace", 1, draw_call_tir_inplace),
)
