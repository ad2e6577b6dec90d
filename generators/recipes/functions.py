"""Recipes of several functions: private, local, capturing, external ones, and how they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tvm import relax

from generators import tvm_api
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.bindings import condition, either
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.body import close_block
from generators.relax.calls_and_ifs import emit_call
from generators.relax.frames import FunctionFrame, ParameterSpec, PrivateFunction
from generators.relax.functions import draw_function
from generators.relax.scope import Scope
from generators.relax.statements import SIMPLE
from generators.relax.values import AnyValue, Dim, ShapeValue, SymbolicDim, TupleValue, Value
from generators.tvm_api import Type
from generators.unavailable import Unavailable

Build = Callable[[Scope], None]


def private(
    s: Scope,
    build: Build,
    *,
    count: int = 1,
    symbolic: bool = False,
    name: str | None = None,
    kept_alone: bool = False,
) -> PrivateFunction:
    """A private function of up to `count` random statements around the shape that `build` plants and keeps.
    kept_alone: it returns a tuple of what `build` keeps, and nothing else."""
    frame = FunctionFrame(s.frame.module, symbolic=symbolic, level=s.frame.level + 1, prefix="w", kept_alone=kept_alone)
    function, result = draw_function(s.source, frame, SIMPLE, s.source.integer(0, count), [build])
    gvar = s.frame.module.add(name or s.frame.module.new_name("sub"), function)
    callee = PrivateFunction(gvar, tuple(frame.parameters), result, not frame.impure)
    s.frame.module.private.append(callee)
    return callee


def called(s: Scope, callee: PrivateFunction) -> AnyValue:
    """A call of a private function. Unavailable where the result's type says too little."""
    value = emit_call(s, callee.gvar, callee)
    if value is None:
        raise Unavailable("the result is of no use")
    return value


def finish_result(s: Scope, value: AnyValue) -> None:
    """Uses the result of a call and lets it, or one of its fields, come out."""
    if isinstance(value, TupleValue) and value.fields and s.source.flip(KNOBS.functions.field_taken):
        value = b.item(s, value, s.source.integer(0, len(value.fields) - 1))
    b.finish(s, value)


def _simple_body(inner: Scope) -> None:
    x = b.parameter(inner, inner.draw_dims((0, 3), static=True), "float32")
    y = b.unary(inner, x) if inner.source.flip() else b.add(inner, x, inner.like(x))
    b.finish(inner, y)


def private_calls(s: Scope) -> None:
    """A private function called from two places, on the same and on other arguments, or from another private one."""
    callee = private(s, _simple_body, count=2)
    values = [called(s, callee) for _ in range(s.source.integer(1, 3))]
    if s.source.flip(KNOBS.functions.called_through):

        def calls_it(inner: Scope) -> None:
            finish_result(inner, called(inner, callee))

        values.append(called(s, private(s, calls_it)))
    for value in values:
        finish_result(s, value)


def private_calls_symbolic(s: Scope) -> None:
    """A private function of symbolic shape, called once or twice on one shape; its result may have another shape."""

    def build(inner: Scope) -> None:
        n = inner.frame.new_symbol(inner.source)
        x = b.parameter(inner, [n, inner.draw_extent(1)] if inner.source.flip() else [n])
        y = (
            b.add(inner, x, b.parameter(inner, x.dims or ()))
            if inner.source.flip(KNOBS.functions.second_parameter)
            else b.unary(inner, x)
        )
        if inner.source.flip(KNOBS.functions.result_reshaped):
            y = b.reshaped(inner, y, [1, *(y.dims or ())])
        b.finish(inner, y)

    callee = private(s, build, symbolic=True)
    for _ in range(s.source.integer(1, 2)):
        finish_result(s, called(s, callee))


def parameter_defines_symbol(s: Scope) -> None:
    """A private function one of whose parameters is used for nothing but the symbol in its type."""

    def build(inner: Scope) -> None:
        n = inner.frame.new_symbol(inner.source)
        if inner.source.flip(KNOBS.functions.symbol_in_tensor):
            b.parameter(inner, [n])
        else:
            shape_parameter(inner, n)
        one = b.literal(1.0, "float32")
        filled = b.call(inner, relax.op.full(inner.shape_expr([n, 2]), one, "float32"), Range(1, 1, True))
        x = b.parameter(inner, (2,))
        b.finish(inner, b.add(inner, filled, x))

    callee = private(s, build, symbolic=True, count=0)
    for _ in range(s.source.integer(1, 2)):
        finish_result(s, called(s, callee))


def shape_parameter(s: Scope, symbol: SymbolicDim) -> None:
    """A new parameter that is the shape of this one dim."""
    var = s.frame.new_var(tvm_api.ShapeType([symbol.expr]), stem="p")
    s.frame.parameters.append((var, ParameterSpec((symbol.extent,), "int64", is_shape=True)))
    s.values.append(ShapeValue(var, (symbol,), (symbol.extent,)))


def _tuple_parameter(s: Scope, count: int, *, nested: bool = False) -> TupleValue:
    """A parameter that is a tuple of float32 tensors, one of them in a tuple of its own with `nested`."""
    specs: list[ParameterSpec] = []
    types: list[Type] = []
    fields: list[AnyValue] = []
    for _ in range(count):
        shape = tuple(s.source.integer(1, 4) for _ in range(s.source.integer(0, 2)))
        values = s.draw_range("float32")
        specs.append(ParameterSpec(shape, "float32", values))
        types.append(tvm_api.tensor_type(shape, "float32"))
        fields.append(Value(None, shape, shape, "float32", values))
    if nested:
        at = s.source.integer(0, count - 1)
        specs[at], types[at] = ParameterSpec(fields=(specs[at],)), tvm_api.TupleType([types[at]])
        fields[at] = TupleValue(None, (fields[at],))
    var = s.frame.new_var(tvm_api.TupleType(types), stem="p")
    s.frame.parameters.append((var, ParameterSpec(fields=tuple(specs))))
    whole = TupleValue(var, tuple(fields))
    s.values.append(whole)
    return whole


def private_tuple_arguments(s: Scope) -> None:
    """A private function with a tuple parameter, all or some fields used; called with a bound or written tuple."""

    def build(inner: Scope) -> None:
        count = inner.source.integer(1, 3)
        whole = _tuple_parameter(inner, count, nested=inner.source.flip(KNOBS.functions.parameter_nested))
        used = [i for i in range(count) if inner.source.flip(KNOBS.functions.field_used)] or [0]
        for index in used:
            field = b.item(inner, whole, index)
            field = b.item(inner, field, 0) if isinstance(field, TupleValue) else field
            b.keep(inner, b.unary(inner, b.as_tensor(field)))
        if inner.source.flip(KNOBS.functions.parameter_returned):
            b.keep(inner, whole)

    callee = private(s, build)
    for _ in range(s.source.integer(1, 2)):
        finish_result(s, called(s, callee))


def private_unused_parameters(s: Scope) -> None:
    """A private function with parameters that nothing uses: tensors, a tuple, a shape, first or last."""

    def build(inner: Scope) -> None:
        if inner.source.flip():
            b.parameter(inner, inner.draw_dims((0, 2), static=True))
        x = b.parameter(inner, inner.draw_dims((0, 2), static=True))
        y = b.unary(inner, x)
        if inner.source.flip(KNOBS.functions.tuple_unused):
            _tuple_parameter(inner, 2)
        for _ in range(inner.source.integer(0, 2)):
            inner.values.remove(b.parameter(inner, inner.draw_dims((0, 2), static=True)))
        inner.values.remove(b.parameter(inner, (2,)))
        b.finish(inner, y)

    callee = private(s, build)
    for _ in range(s.source.integer(1, 2)):
        finish_result(s, called(s, callee))


def private_names_of_parameters(s: Scope) -> None:
    """A private function whose results have the names of its parameters, in any order: a result that is no parameter
    is then not told from one by its name. Some parameters may come out themselves."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)
    count = s.source.integer(1, 3)

    def build(inner: Scope) -> None:
        operands = [b.parameter(inner, dims) for _ in range(count)]
        names = [x.expr.name for x in operands]
        for _ in range(inner.source.integer(1, count)):
            inner.frame.borrowed = [names.pop(inner.source.integer(0, len(names) - 1))]
            b.keep(inner, b.unary(inner, inner.source.pick(operands), exported=True))
        inner.frame.borrowed = []
        if inner.source.flip(KNOBS.functions.parameter_beside):
            b.keep(inner, inner.source.pick(operands))

    callee = private(s, build, count=0, kept_alone=s.source.flip())
    for _ in range(s.source.integer(1, 2)):
        for value in _fields(s, called(s, callee)):
            finish_result(s, value)


def _fields(s: Scope, value: AnyValue) -> Sequence[AnyValue]:
    """The fields of a tuple, in most cases each taken out; any other value itself."""
    if not isinstance(value, TupleValue) or not s.source.flip(KNOBS.functions.field_taken):
        return [value]
    return [b.item(s, value, number) for number in range(len(value.fields))]


def private_functions_unused(s: Scope) -> None:
    """A private function without callers, or one whose only caller is uncalled itself."""
    callee = private(s, _simple_body, count=2)
    if s.source.flip(KNOBS.functions.dead_caller):

        def dead_caller(inner: Scope) -> None:
            finish_result(inner, called(inner, callee))

        private(s, dead_caller)
    s.frame.module.private.clear()
    b.finish(s, b.unary(s, b.tensor(s)))


def private_in_branch(s: Scope) -> None:
    """A private function that is called from nowhere but a branch of an If."""
    dims = s.draw_dims((0, 2), static=True)

    def body(inner: Scope) -> None:
        y = b.unary(inner, b.parameter(inner, dims), exported=True)
        b.keep(inner, y)

    callee = private(s, body, count=0)
    s.frame.module.private.remove(callee)
    x = b.variable(s, dims)

    def call_it(inner: Scope) -> Value:
        value = emit_call(inner, callee.gvar, callee)
        return b.as_tensor(b.item(inner, value, 0) if isinstance(value, TupleValue) else value)

    def other(inner: Scope) -> Value:
        return b.unary(inner, x) if inner.source.flip(KNOBS.functions.other_branch_plain) else call_it(inner)

    order = (call_it, other) if s.source.flip() else (other, call_it)
    b.finish(s, either(s, condition(s, x), *order))


def closure(
    s: Scope, build: Callable[[Scope, Value], Value], dims: Sequence[Dim], attributes: Mapping[str, Any] | None = None
) -> PrivateFunction:
    """A function bound in this block, of one parameter with these dims; `build` may use values outside."""
    frame = FunctionFrame(s.frame.module, symbolic=False, level=9, prefix="u")
    inner = Scope(s.source, frame)
    inner.depth = s.depth + 1
    inner.dataflow = s.source.flip()
    x = b.parameter(inner, dims)
    out = build(inner, x)
    if out.dataflow or not isinstance(out.expr, relax.Var) or not inner.bindings:
        out = b.as_tensor(b.alias(inner, out, exported=True))
    body = s.frame.module.builder.normalize(relax.SeqExpr(close_block(inner), out.expr))
    function = relax.Function([v for v, _ in frame.parameters], body, is_pure=True)
    if attributes:
        function = function.with_attrs(attributes)
    var = s.frame.new_var(tvm_api.type_of(function), dataflow=s.dataflow, stem="f")
    s.bindings.append(relax.VarBinding(var, function))
    return PrivateFunction(var, tuple(frame.parameters), out.range)


def local_functions(s: Scope) -> None:
    """A local function that captures nothing, called once or twice; it may call a private function."""
    dims = s.draw_dims((0, 2), static=True)
    callee = private(s, _simple_body, count=0) if s.source.flip(KNOBS.functions.local_calls_private) else None

    def build(inner: Scope, x: Value) -> Value:
        if callee is None:
            return b.unary(inner, x)
        value = emit_call(inner, callee.gvar, callee)
        first = b.item(inner, value, 0) if isinstance(value, TupleValue) else value
        return b.unary(inner, b.as_tensor(first))

    local = closure(s, build, dims)
    for _ in range(s.source.integer(1, 2)):
        b.finish(s, b.as_tensor(emit_call(s, local.gvar, local)))


def local_functions_capturing(s: Scope) -> None:
    """A local function that uses values from outside: a parameter, a computed value, or both."""
    x = b.tensor(s, (0, 2), static=True, dtype="float32")
    outside = b.unary(s, x) if s.source.flip(KNOBS.functions.captures_computed) else x
    if outside.dims is None or x.dims is None:
        raise Unavailable("nothing to capture")

    def build(inner: Scope, own: Value) -> Value:
        y = b.add(inner, own, outside)
        return b.multiply(inner, y, x) if inner.source.flip(KNOBS.functions.captures_two) else y

    local = closure(s, build, x.dims)
    for _ in range(s.source.integer(1, 2)):
        b.finish(s, b.as_tensor(emit_call(s, local.gvar, local)))


def external_workspace(s: Scope) -> None:
    """A function for an external code generator that asks for a workspace, around a composite one.

    AllocateWorkspace looks into dataflow blocks only.
    """
    dims = s.draw_dims((1, 2), static=True, nonempty=True)
    module = s.frame.module
    size = s.source.pick((16, 64, 1024))

    def build(inner: Scope) -> None:
        x = b.parameter(inner, dims)
        local = closure(inner, lambda i, v: b.unary(i, v), dims, {"Composite": "byoc.unary", "WorkspaceSize": size})
        inner.values.remove(x)
        call = relax.Call(local.gvar, [x.expr])
        b.keep(inner, b.call(inner, call, local.result, exported=True))  # type: ignore[arg-type]

    frame = FunctionFrame(module, symbolic=False, level=s.frame.level + 1, prefix="w")
    name = module.new_name("external")
    frame.attributes = {"Codegen": "byoc", "WorkspaceSize": size, "global_symbol": name}
    function, result = draw_function(s.source, frame, (), 0, [build])
    gvar = module.add(name, function)
    callee = PrivateFunction(gvar, tuple(frame.parameters), result)
    for _ in range(s.source.integer(1, 2)):
        finish_result(s, called(s, callee))


RECIPES = (
    Recipe("private_calls", private_calls),
    Recipe("private_calls_symbolic", private_calls_symbolic),
    Recipe("private_parameter_defines_symbol", parameter_defines_symbol),
    Recipe("private_tuple_arguments", private_tuple_arguments),
    Recipe("private_unused_parameters", private_unused_parameters),
    Recipe("private_names_of_parameters", private_names_of_parameters),
    Recipe("private_functions_unused", private_functions_unused),
    Recipe("private_in_branch", private_in_branch, plain=True),
    Recipe("local_functions", local_functions),
    Recipe("local_functions_capturing", local_functions_capturing, plain=True),
    Recipe("external_workspace", external_workspace, dataflow=True),
)
