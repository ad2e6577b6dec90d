"""Recipes of functions that call themselves or each other, and of functions as values.

Each recursion counts a scalar down to zero, so that it ends after a few calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.bindings import either
from generators.recipes.functions import called, closure, private
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.body import close_block
from generators.relax.calls_and_ifs import emit_call
from generators.relax.frames import FunctionFrame, PrivateFunction
from generators.relax.scope import Drawn, Scope
from generators.relax.values import Dim, Value, dim_expr
from generators.source import favour
from generators.tvm_api import Expr, RelaxFunction, Type, Var

T = TypeVar("T")
_TIMES = Range(0, 3, True)
_VALUES = Range(-8, 8, True)
_RESULTS = Range(-16, 16, True)
_STEPS: tuple[Callable[[Expr, Expr], Expr], ...] = (
    relax.op.add,
    lambda x, one: relax.op.subtract(one, x),
    lambda x, one: relax.op.negative(x),
)
"""What a call does to its tensor before the next: how often it was done, and in which order, shows in the result."""


def _types(dims: Sequence[Dim]) -> tuple[list[Type], Type]:
    """The types of a counter and a tensor, and of the result."""
    tensor = tvm_api.tensor_type([dim_expr(d) for d in dims], "float32")
    return [tvm_api.tensor_type((), "int64"), tensor], tensor


def _counting(s: Scope, dims: tuple[Dim, ...], following: Expr, stem: str, extra: Value | None = None) -> RelaxFunction:
    """A function of a counter and a tensor: it calls `following` with one less and a changed tensor, until zero."""
    frame = FunctionFrame(s.frame.module, symbolic=False, level=9, prefix=stem)
    inner = Scope(s.source, frame)
    count = frame.add_parameter((), "int64", _TIMES)
    x = frame.add_parameter(dims, "float32", _VALUES)
    one, zero = (tvm_api.constant(np.array(number), "int64") for number in (1, 0))
    test = b.call(inner, relax.op.greater(count.expr, zero), Range(0, 1, True))

    def again(branch: Scope) -> Value:
        less = b.call(branch, relax.op.subtract(count.expr, one), _TIMES)
        step = s.source.pick(_STEPS)
        changed = b.call(branch, step(x.expr, b.literal(1, "float32")), _RESULTS)
        result = branch.emit_tensor(Drawn(relax.Call(following, [less.expr, changed.expr]), _RESULTS))
        if extra is not None:
            return b.call(branch, relax.op.subtract(result.expr, extra.expr), _RESULTS + _RESULTS)
        if s.source.flip(KNOBS.functions.after_recursion):
            return b.unary(branch, result, b.SIMPLE_UNARY[1:3])
        return result

    def done(branch: Scope) -> Value:
        return b.unary(branch, x, b.SIMPLE_UNARY[:3])

    inner.dataflow = False
    out = either(inner, test.expr, again, done)
    body = s.frame.module.builder.normalize(relax.SeqExpr(close_block(inner), out.expr))
    return relax.Function([var for var, _ in frame.parameters], body, _types(dims)[1], is_pure=True)


def _specs(s: Scope, function: RelaxFunction, target: Expr, dims: tuple[Dim, ...]) -> PrivateFunction:
    frame = FunctionFrame(s.frame.module)
    frame.add_parameter((), "int64", _TIMES)
    frame.add_parameter(dims, "float32", _VALUES)
    specs = tuple((var, spec) for var, (_, spec) in zip(function.params, frame.parameters, strict=True))
    return PrivateFunction(target, specs, _RESULTS + _RESULTS + _RESULTS)


def recursive_private(s: Scope) -> None:
    """Private functions that call themselves, or each other in a ring, called once or twice."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)
    module = s.frame.module
    ring = [relax.GlobalVar(module.new_name("turn")) for _ in range(favour(s.source, 2, 1, 3))]
    parameters, result = _types(dims)
    for gvar in ring:
        tvm_api.set_type(gvar, tvm_api.FuncType(parameters, result, True))
    for place, gvar in enumerate(ring):
        module.functions[gvar] = _counting(s, dims, ring[(place + 1) % len(ring)], "r")
    for _ in range(s.source.integer(1, 2)):
        gvar = s.source.pick(ring)
        callee = _specs(s, module.functions[gvar], gvar, dims)
        b.finish(s, b.as_tensor(called(s, callee)))


def recursive_local(s: Scope) -> None:
    """A local function that calls itself; it may use a value from outside as well."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)
    parameters, result = _types(dims)
    var = s.frame.new_var(tvm_api.FuncType(parameters, result, True), stem="f")
    outside = s.tensor(("float32",), dims=dims, low=-8, high=8) if s.source.flip(KNOBS.functions.captures_two) else None
    function = _counting(s, dims, var, "u", outside)
    s.bindings.append(relax.VarBinding(var, function))
    for _ in range(s.source.integer(1, 2)):
        b.finish(s, b.as_tensor(emit_call(s, var, _specs(s, function, var, dims))))


# --- names that lifting wants to use -----------------------------------------------------------------------------


def _named(s: Scope, stem: str, build: Callable[[Scope, Value], Value], dims: tuple[Dim, ...]) -> PrivateFunction:
    """A local function bound to a variable of exactly this name."""
    local = closure(s, build, dims)
    binding = s.bindings.pop()
    var = (relax.DataflowVar if s.dataflow else relax.Var)(stem, tvm_api.type_of(binding.var))
    s.bindings.append(relax.VarBinding(var, binding.value))
    return PrivateFunction(var, local.parameters, local.result)


def local_names_taken(s: Scope) -> None:
    """A local function `inner` of main where there is a function `main_inner`; or several named `inner`, in different
    functions of main. LambdaLift must find other names for them."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)
    stem = s.frame.module.new_name("inner")
    if s.source.flip(KNOBS.functions.name_of_global):

        def body(inner: Scope) -> None:
            b.finish(inner, b.unary(inner, b.parameter(inner, dims), b.SIMPLE_UNARY[:2]))

        callee = private(s, body, count=0, name=f"main_{stem}")
        b.finish(s, called(s, callee))
        _use(s, _named(s, stem, lambda inner, x: b.unary(inner, x), dims))
    for _ in range(s.source.integer(1, 2)):

        def outer(inner: Scope, x: Value) -> Value:
            inner.dataflow = False
            own = _named(inner, stem, lambda scope, y: b.unary(scope, y), dims)
            return b.as_tensor(inner.emit(Drawn(relax.Call(own.gvar, [x.expr]), own.result)))

        _use(s, closure(s, outer, dims))


def _use(s: Scope, local: PrivateFunction) -> None:
    b.finish(s, b.as_tensor(emit_call(s, local.gvar, local)))


# --- functions as values ---------------------------------------------------------------------------------------


def returned_closures(s: Scope) -> None:
    """A local function that gives a function which holds its arguments, all of one type; both are called."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)
    builder, held_type = s.frame.module.builder, tvm_api.tensor_type(dims, "float32")
    held: list[Var] = [relax.Var(f"held{n}", held_type) for n in range(favour(s.source, 2, 1, 3))]
    own: Var = relax.Var("own", held_type)
    place, steps = s.source.integer(0, len(held)), [s.source.pick(b.RING[:3]) for _ in held]
    value, *others = _with(held, own, place)
    bindings = []
    for (build, _), operand in zip(steps, others, strict=True):
        result = s.frame.new_var(held_type, stem="r")
        bindings.append(relax.VarBinding(result, builder.normalize(build(value, operand))))
        value = result
    inside = relax.Function(
        [own], builder.normalize(relax.SeqExpr([relax.BindingBlock(bindings)], value)), is_pure=True
    )
    given = s.frame.new_var(tvm_api.type_of(inside), stem="g")
    whole = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(given, inside)])], given)
    outside = relax.Function(held, builder.normalize(whole), is_pure=True)
    maker = s.frame.new_var(tvm_api.type_of(outside), stem="f")
    s.bindings.append(relax.VarBinding(maker, outside))
    for _ in range(s.source.integer(1, 2)):
        values = [s.tensor(("float32",), dims=dims, low=-8, high=8) for _ in held]
        made = builder.normalize(relax.Call(maker, [x.expr for x in values]))
        closure_var = s.frame.new_var(tvm_api.type_of(made), stem="h")
        s.bindings.append(relax.VarBinding(closure_var, made))
        for _ in range(s.source.integer(1, 2)):
            y = s.tensor(("float32",), dims=dims, low=-8, high=8)
            limits, *more = _with([x.range for x in values], y.range, place)
            for (_, ranges), other in zip(steps, more, strict=True):
                limits = ranges(limits, other)
            b.finish(s, s.emit_tensor(Drawn(relax.Call(closure_var, [y.expr]), limits)))


def _with(many: Sequence[T], one: T, place: int) -> list[T]:
    """All of them in a row, the one at its place."""
    return [*many[:place], one, *many[place:]]


RECIPES = (
    Recipe("recursive_private", recursive_private),
    Recipe("recursive_local", recursive_local, plain=True),
    Recipe("local_names_taken", local_names_taken, plain=True),
    Recipe("returned_closures", returned_closures, plain=True),
)
