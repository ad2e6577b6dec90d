"""Whole Relax functions: body, result, parameters for symbols, attributes. Used for main, private and local ones."""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax

from generators import tvm_api
from generators.ranges import Range, Ranges
from generators.relax.body import Pattern, Statement, close_block, draw_blocks, draw_result, draw_statements, plant
from generators.relax.differentiable import DIFFERENTIABLE, draw_loss
from generators.relax.frames import FunctionFrame, ParameterSpec
from generators.relax.scope import Scope
from generators.relax.values import ShapeValue, SymbolicDim, TupleValue, Value, ranges_of
from generators.source import Source
from generators.tvm_api import BindingBlock, Expr, RelaxFunction, Type


def draw_function(
    source: Source,
    frame: FunctionFrame,
    table: Sequence[Statement],
    count: int,
    patterns: Sequence[Pattern] = (),
) -> tuple[RelaxFunction, Ranges]:
    """A function of about `count` statements, and the range of its result.

    Raises Unavailable when the body computed nothing that could be returned.
    """
    scope = Scope(source, frame)
    _draw_leading_parameters(scope)
    blocks = draw_blocks(scope, table, count, patterns)
    scope.dataflow = False
    result = draw_result(scope)
    blocks += close_block(scope)
    _define_symbols(source, frame)
    known = relax.Tuple(frame.kept) if frame.kept_alone and frame.kept else result  # also where it is bound to a name
    return _finished(frame, blocks, result), _range_of(scope, known)


def draw_loss_function(
    source: Source, frame: FunctionFrame, count: int, patterns: Sequence[Pattern] = ()
) -> RelaxFunction:
    """A function that can be differentiated: one dataflow block of operators with a gradient, a scalar loss."""
    scope = Scope(source, frame)
    scope.dataflow = True
    draw_statements(scope, DIFFERENTIABLE, count)
    for pattern in patterns:
        plant(scope, pattern)
    if frame.loss is None:
        draw_loss(scope)
    blocks = close_block(scope)
    others = [v.expr for v in scope.values if isinstance(v, Value) and _is_output(frame, v.expr)]
    result = frame.loss
    if others and source.flip(frame.module.knobs.results.beside_loss):
        fields = others[-2:]
        frame.loss_place = source.integer(0, len(fields))
        result = relax.Tuple([*fields[: frame.loss_place], frame.loss, *fields[frame.loss_place :]])
    return _finished(frame, blocks, result)


def _is_output(frame: FunctionFrame, expr: Expr) -> bool:
    is_var = isinstance(expr, relax.Var) and not isinstance(expr, relax.DataflowVar)
    return is_var and expr not in frame.parameter_vars and not expr.same_as(frame.loss)


def _finished(frame: FunctionFrame, blocks: list[BindingBlock], result: Expr) -> RelaxFunction:
    """The normalised function with its attributes, its weights last."""
    frame.order_parameters()
    body = frame.module.builder.normalize(relax.SeqExpr(blocks, result))
    function = relax.Function([var for var, _ in frame.parameters], body, is_pure=not frame.impure)
    return function.with_attrs(frame.attributes) if frame.attributes else function


def _draw_leading_parameters(scope: Scope) -> None:
    """Now and then a tuple parameter or a shape parameter, which operands alone would never ask for."""
    source, frame = scope.source, scope.frame
    if source.flip(frame.module.knobs.functions.tuple_parameter):
        _add_tuple_parameter(scope)
    if frame.symbolic and source.flip(frame.module.knobs.functions.shape_parameter):
        symbol = frame.draw_symbol(source)
        _add_shape_parameter(scope, symbol)


def _add_tuple_parameter(scope: Scope) -> None:
    specs: list[ParameterSpec] = []
    fields: list[Value] = []
    for _ in range(scope.source.integer(1, 3)):
        dims = scope.draw_dims(static=True)
        shape = tuple(d for d in dims if isinstance(d, int))
        values = scope.draw_range("float32")
        specs.append(ParameterSpec(shape, "float32", values))
        fields.append(Value(None, dims, shape, "float32", values))
    ty = tvm_api.TupleType([tvm_api.tensor_type(s.shape, s.dtype) for s in specs])
    var = scope.frame.new_var(ty, stem="p")
    scope.frame.parameters.append((var, ParameterSpec(fields=tuple(specs))))
    scope.values.append(TupleValue(var, tuple(fields)))


def _add_shape_parameter(scope: Scope, symbol: SymbolicDim) -> None:
    var = scope.frame.new_var(tvm_api.ShapeType([symbol.expr]), stem="p")
    scope.frame.parameters.append((var, ParameterSpec((symbol.extent,), "int64", is_shape=True)))
    scope.values.append(ShapeValue(var, (symbol,), (symbol.extent,)))


def _define_symbols(source: Source, frame: FunctionFrame) -> None:
    """A parameter for every symbol that none defines yet: used for nothing but its shape.

    In 5 % of the functions one more parameter that nothing uses.
    """
    for symbol in frame.undefined_symbols():
        if source.flip(frame.module.knobs.functions.symbol_by_tensor):
            frame.add_parameter((symbol,), "float32", Range(-3, 3, True))
        else:
            var = frame.new_var(tvm_api.ShapeType([symbol.expr]), stem="p")
            frame.parameters.append((var, ParameterSpec((symbol.extent,), "int64", is_shape=True)))
    if source.flip(frame.module.knobs.functions.unused_parameter):
        frame.add_parameter((2, 3), "float32", Range(-3, 3, True))


def _range_of(scope: Scope, result: Expr) -> Ranges:
    """The range of the returned expression; whatever is not known by name is taken as wide."""
    wide = Range(-(2.0**30), 2.0**30)
    if isinstance(result, relax.Tuple):
        return tuple(_range_of(scope, field) for field in result.fields)
    for value in scope.values:
        if not isinstance(value, ShapeValue) and value.expr is not None and value.expr.same_as(result):
            ranges: Ranges = ranges_of(value)
            return ranges
    ty = tvm_api.type_of(result)
    return _wide_like(ty, wide)


def _wide_like(ty: Type, wide: Range) -> Ranges:
    if isinstance(ty, tvm_api.TupleType):
        return tuple(_wide_like(t, wide) for t in ty.fields)
    return wide
