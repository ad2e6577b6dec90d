"""Recipes about symbolic dims: in shapes, conditions, scalar values, shape values, and bounds on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tvm_ffi
from tvm import relax, tirx

from generators import tvm_api
from generators.ranges import Range, Ranges
from generators.recipes import blocks as b
from generators.recipes.bindings import either
from generators.recipes.functions import called, finish_result, private, shape_parameter
from generators.recipes.kernels import bounded
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.frames import FunctionFrame, PrivateFunction
from generators.relax.functions import draw_function
from generators.relax.scope import INDEX, Drawn, Scope
from generators.relax.values import AnyValue, Dim, ShapeValue, SymbolicDim, Value, dims_of
from generators.source import favour
from generators.tvm_api import Expr, RelaxFunction, Var
from generators.unavailable import Unavailable


def _symbol(s: Scope) -> SymbolicDim:
    """A symbol of the function, in whose signature it may stand."""
    s.frame.symbolic = True
    return s.frame.draw_symbol(s.source)


def _symbolic(s: Scope) -> tuple[SymbolicDim, Value]:
    """A parameter with a symbolic dim."""
    n = _symbol(s)
    dims: list[Dim] = s.source.pick(([n], [n, b.small(s)], [b.small(s), n], [n, n], [1, n, 2]))
    return n, b.parameter(s, dims, b.float_dtype(s))


def symbolic_shapes(s: Scope) -> None:
    """Operators on values of symbolic shape, several symbols in one shape, reshapes and products of them."""
    n, x = _symbolic(s)
    y = b.unary(s, x)
    kind = s.source.integer(0, 4)
    if kind == 0:
        y = b.reshaped(s, y, [*(y.dims or ()), 1])
    elif kind == 1:
        y = b.call(s, relax.op.flatten(y.expr), y.range)
    elif kind == 2:
        y = b.matmul(s, b.parameter(s, [_symbol(s), (y.dims or (n,))[0]], x.dtype), y) if y.ndim == 2 else y
    elif kind == 3:
        y = b.call(s, relax.op.concat([x.expr, y.expr], 0), x.range.hull(y.range))
    else:
        y = b.add(s, y, b.parameter(s, [1] * (y.ndim - 1) + [1], x.dtype))
    b.finish(s, y, b.unary(s, y))


def _with_symbol(s: Scope, symbol: SymbolicDim) -> tuple[FunctionFrame, RelaxFunction, Ranges]:
    """A function of a tensor with a symbol of its own, of the same name and value."""
    frame = FunctionFrame(s.frame.module, symbolic=False, level=s.frame.level + 1, prefix="w")
    own = tvm_api.symbol(symbol.text)
    frame.symbols[own] = symbol.extent

    def build(inner: Scope) -> None:
        dims: list[Dim] = [SymbolicDim(own, symbol.extent, symbol.text), 2]
        x = b.parameter(inner, dims)
        b.finish(inner, b.add(inner, x, x) if inner.source.flip() else b.reshaped(inner, x, [1, *dims]))

    function, result = draw_function(s.source, frame, (), 0, [build])
    return frame, function, result


def symbol_of_functions(s: Scope) -> None:
    """A symbol whose name private and public functions have, too, for the same number in every call."""
    n = _symbol(s)
    module = s.frame.module
    x = b.parameter(s, [n, 2])
    if s.source.flip(KNOBS.symbolic.in_private):
        frame, function, result = _with_symbol(s, n)
        gvar = module.add(module.new_name("sub"), function)
        module.alike.add(gvar.name_hint)
        if len(frame.parameters) == 1:
            b.finish(s, *b.tensors_of(s, s.emit(Drawn(relax.Call(gvar, [x.expr]), result))))
    if s.source.flip(KNOBS.symbolic.in_public):
        frame, function, _ = _with_symbol(s, n)
        name = module.new_name("second")
        module.add(name, function.with_attr("global_symbol", name))
        module.public[name] = frame
        module.alike.add(name)
    b.finish(s, b.unary(s, x))


def symbolic_upper_bound(s: Scope) -> None:
    """A chain on a symbolic shape in a function that says how large one of its symbols can be, or how small as well."""
    n, x = _symbolic(s)
    y = b.unary(s, b.unary(s, b.add(s, x, x)))
    bounded(s, n)
    b.finish(s, y)


def symbolic_conditions(s: Scope) -> None:
    """An If on a comparison of an expression over dims."""
    n, x = _symbolic(s)
    number = s.source.integer(1, 5)
    e: Expr = n.expr
    test = s.source.pick((e > number, e * 2 <= number, e % 2 < 1, (e + 1) // 2 >= number))

    def build(inner: Scope) -> Value:
        y = b.unary(inner, x)
        return b.add(inner, y, x) if inner.source.flip() else y

    b.finish(s, either(s, test, build, build))


def prim_values(s: Scope) -> None:
    """A scalar expression over dims bound to a variable: used as a condition, with tensors, or returned."""
    n, x = _symbolic(s)
    e: Expr = n.expr
    drawn = s.source.pick((e * 2 + 1, e + 3, (e + 1) // 2, e * e))
    number = s.frame.module.builder.normalize(tvm_api.argument(drawn))
    var = s.frame.new_var(tvm_api.type_of(number), stem="s")
    s.bindings.append(relax.VarBinding(var, number))
    if s.source.flip(KNOBS.symbolic.number_returned):
        s.frame.kept.append(var)
    if s.source.flip(KNOBS.symbolic.number_alias):
        other = s.frame.new_var(tvm_api.type_of(number), stem="s")
        s.bindings.append(relax.VarBinding(other, var))
        s.frame.kept.append(other)
    b.finish(s, b.unary(s, x))


def shape_of(s: Scope) -> None:
    """shape_of a value, and something made of that shape."""
    x = _symbolic(s)[1] if s.source.flip(KNOBS.symbolic.shape_symbolic) else b.tensor(s)
    y = b.unary(s, x)
    shape = s.emit(Drawn(relax.op.shape_of(y.expr), Range(0, 0)))
    if not isinstance(shape, ShapeValue):
        raise Unavailable("no shape")
    kind = s.source.integer(0, 2)
    if kind == 0:
        fill = b.literal(2.0, "float32")
        out = b.as_tensor(s.emit(Drawn(relax.op.full(shape.expr, fill, "float32"), Range(2, 2, True), shape.shape)))
    elif kind == 1:
        call = relax.op.shape_to_tensor(shape.expr)
        out = b.as_tensor(s.emit(Drawn(call, Range(0, 512, True), (len(shape.shape),))))
    else:
        out = b.as_tensor(s.emit(Drawn(relax.op.reshape(y.expr, shape.expr), y.range, shape.shape)))
    b.finish(s, y, out)


def tensor_to_shape(s: Scope) -> None:
    """tensor_to_shape of a parameter or a constant, its dims named by a match_cast, and a tensor of that shape."""
    s.frame.symbolic = True
    n = s.source.integer(1, 4)
    rank = s.source.integer(1, 2)
    values = Range(n, n, True)
    t = (
        b.parameter(s, (rank,), "int64", values)
        if s.source.flip(KNOBS.symbolic.shape_parameter)
        else s.constant((rank,), "int64", values)
    )
    if s.source.flip(KNOBS.symbolic.shape_computed):
        zero = tvm_api.constant(np.zeros(rank), "int64")
        t = b.call(s, relax.op.add(t.expr, zero), t.range)
    call = s.frame.module.builder.normalize(relax.op.tensor_to_shape(t.expr))
    var = s.frame.new_var(tvm_api.type_of(call), stem="h")
    s.bindings.append(relax.VarBinding(var, call))
    dims = [s.new_late_symbol(n) for _ in range(rank)]
    ty = tvm_api.ShapeType([d.expr for d in dims])
    cast = s.frame.new_var(ty, stem="m")
    s.bindings.append(relax.MatchCast(cast, var, ty))
    fill = b.literal(3.0, "float32")
    target = s.shape_expr(dims) if s.source.flip() else cast
    out = b.as_tensor(s.emit(Drawn(relax.op.full(target, fill, "float32"), Range(3, 3, True), (n,) * rank)))
    b.finish(s, out, b.unary(s, out))


def indices_of_shape(s: Scope) -> None:
    """arange or one_hot over an expression of dims, gathered by."""
    n, x = _symbolic(s)
    if not x.dims or x.dims[0] != n:
        raise Unavailable("the symbol must lead")
    dtype = s.source.pick(INDEX)
    index = b.call(s, relax.op.arange(0, n.expr, 1, dtype), Range(0, n.extent - 1, True))
    out = b.call(s, relax.op.take(x.expr, index.expr, 0), x.range)
    b.finish(s, index, out)


def _compound(s: Scope, symbol: SymbolicDim) -> SymbolicDim:
    """An expression over a symbol."""
    n, value = symbol.expr, symbol.extent
    e, number = s.source.pick(((n * 2, value * 2), (n + 1, value + 1), (n * 2 + 1, value * 2 + 1), (n + 3, value + 3)))
    return SymbolicDim(e, number, str(e))


def _defined(s: Scope, symbol: SymbolicDim) -> None:
    """A parameter that has the symbol alone: a shape, or a tensor."""
    if s.source.flip():
        shape_parameter(s, symbol)
    else:
        b.parameter(s, [symbol])


def _of_compound_dims(s: Scope, n: SymbolicDim) -> Value:
    """A value made of a parameter in whose dims a symbol stands only within expressions. Some other parameter has the
    symbol alone, before this one or after it."""
    if s.source.flip(KNOBS.symbolic.symbol_first):
        _defined(s, n)
    dim = _compound(s, n)
    x = b.parameter(s, s.source.pick(([dim], [dim, 2], [3, dim], [dim, _compound(s, n)])))
    kind = favour(s.source, "unary", "filled", "twice", "joined")
    if kind == "filled":
        ones = b.call(s, relax.op.ones(s.shape_expr(x.dims or ()), x.dtype), Range(1, 1, True))
        return b.add(s, x, ones)
    if kind == "twice":
        return b.add(s, x, b.parameter(s, x.dims or ()))
    y = b.unary(s, x)
    return b.concat(s, [y, x], 0) if kind == "joined" else y


def compound_dims(s: Scope) -> None:
    """Parameters of main whose dims are expressions of a symbol, like twice a length or one more than it."""
    s.frame.symbolic = True
    n = s.frame.new_symbol(s.source)
    b.finish(s, _of_compound_dims(s, n))


def compound_dims_of_private(s: Scope) -> None:
    """The same for a private function: what calls it gives numbers, or expressions of symbols of its own."""
    s.frame.symbolic = True
    symbols: dict[Var, int] = {}

    def build(inner: Scope) -> None:
        b.keep(inner, _of_compound_dims(inner, inner.frame.new_symbol(inner.source)))
        symbols.update(inner.frame.symbols)

    callee = private(s, build, count=0, symbolic=True)
    for _ in range(s.source.integer(1, 2)):
        by_symbol = s.source.flip(KNOBS.symbolic.compound_called)
        finish_result(s, _called_by_symbols(s, callee, symbols) if by_symbol else called(s, callee))


def _called_by_symbols(s: Scope, callee: PrivateFunction, symbols: Mapping[Var, int]) -> AnyValue:
    """A call with new parameters in whose dims new symbols stand for those of the function."""
    own = {symbol: s.frame.new_symbol_of(value) for symbol, value in symbols.items()}

    def of_caller(dim: Expr) -> Expr:
        return tvm_ffi.structural_map(dim, (tirx.Var, lambda symbol: own[symbol].expr if symbol in own else symbol))

    arguments: list[Expr] = []
    for var, spec in callee.parameters:
        ty = tvm_api.type_of(var)
        if spec.fields is not None:
            raise Unavailable("a tuple")
        if spec.is_shape:
            arguments.append(relax.ShapeExpr([of_caller(dim) for dim in ty.values]))
        else:
            exprs = [of_caller(dim) for dim in ty.shape.values]
            arguments.append(b.parameter(s, dims_of(exprs, s.frame.symbols) or (), spec.dtype, spec.range).expr)
    value = s.emit(Drawn(relax.Call(callee.gvar, arguments), callee.result))
    if value is None:
        raise Unavailable("the result is of no use")
    return value


def kernel_of_two_shapes(s: Scope) -> None:
    """One operator for two symbolic shapes on the same operands: lowered, two calls of one PrimFunc that only the
    type of the result tells apart."""
    s.frame.symbolic = True
    x = b.parameter(s, s.source.pick(((1,), (1, 1))))
    fills = s.source.flip()
    for _ in range(2):
        n = s.frame.new_symbol(s.source)
        own = b.parameter(s, [n, 2])
        shape = s.shape_expr([n, 2])
        out = (
            b.call(s, relax.op.full(shape, b.literal(2.0, "float32"), "float32"), Range(2, 2, True))
            if fills
            else b.call(s, relax.op.broadcast_to(x.expr, shape), x.range)
        )
        b.keep(s, out)
        if s.source.flip():
            b.keep(s, b.add(s, out, own))


RECIPES = (
    Recipe("kernel_of_two_shapes", kernel_of_two_shapes),
    Recipe("compound_dims", compound_dims),
    Recipe("compound_dims_of_private", compound_dims_of_private),
    Recipe("symbolic_shapes", symbolic_shapes),
    Recipe("symbol_of_functions", symbol_of_functions),
    Recipe("symbolic_upper_bound", symbolic_upper_bound),
    Recipe("symbolic_conditions", symbolic_conditions, plain=True),
    Recipe("prim_values", prim_values),
    Recipe("shape_of", shape_of),
    Recipe("tensor_to_shape", tensor_to_shape),
    Recipe("symbolic_indices", indices_of_shape),
)
