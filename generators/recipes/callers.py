"""Recipes of private functions by who calls them: plain blocks for an effect, and several functions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from generators import tvm_api
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.bindings import cast_to, condition, either
from generators.recipes.functions import Build, called, finish_result, private
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.calls_and_ifs import draw_impure, emit_call
from generators.relax.frames import FunctionFrame, PrivateFunction
from generators.relax.functions import draw_function
from generators.relax.scope import Scope
from generators.relax.values import Dim, Value
from generators.tvm_api import Var
from generators.unavailable import Unavailable


def impure_private(s: Scope) -> None:
    """A private function that prints or asserts, called in a plain block once or twice, and by another such one. What
    it computes may be unused: the call must stay for its effect."""

    def build(inner: Scope) -> None:
        x = b.parameter(inner, inner.draw_dims((0, 2), static=True))
        inner.dataflow = False
        draw_impure(inner)
        b.finish(inner, b.unary(inner, x))

    callee = private(s, build, count=0)
    if s.source.flip(KNOBS.functions.called_through):
        first = callee
        callee = private(s, lambda inner: _in_plain(inner, first), count=0)
    for index in range(s.source.integer(1, 2)):
        value = called(s, callee)
        if index == 0 or s.source.flip():
            finish_result(s, value)


def _in_plain(s: Scope, callee: PrivateFunction) -> None:
    s.dataflow = False
    finish_result(s, called(s, callee))


def private_effect_in_branch(s: Scope) -> None:
    """A private function whose only effect stands in a branch of an If: it prints or asserts there, or calls another
    function that does. Its callers must not take it for a pure one."""
    dims = s.draw_dims((0, 2), static=True)
    callee = _with_effect(s, dims) if s.source.flip(KNOBS.functions.effect_by_call) else None

    def body(inner: Scope) -> None:
        inner.dataflow = False
        x = b.parameter(inner, dims)

        def heard(branch: Scope) -> Value:
            branch.dataflow = False
            if callee is None:
                draw_impure(branch)
                return b.unary(branch, x)
            return b.unary(branch, b.as_tensor(emit_call(branch, callee.gvar, callee)))

        def quiet(branch: Scope) -> Value:
            return b.unary(branch, x)

        branches = (heard, quiet) if inner.source.flip() else (quiet, heard)
        b.keep(inner, either(inner, condition(inner, x), *branches))

    caller = private(s, body, count=0, kept_alone=s.source.flip())
    s.frame.module.private.remove(caller)
    for _ in range(s.source.integer(1, 2)):
        finish_result(s, called(s, caller))


def _with_effect(s: Scope, dims: Sequence[Dim]) -> PrivateFunction:
    """A private function that gives one tensor of these dims, and prints or asserts."""

    def body(inner: Scope) -> None:
        inner.dataflow = False
        x = b.parameter(inner, dims)
        draw_impure(inner)
        b.keep(inner, b.unary(inner, x, exported=True))

    callee = private(s, body, count=0)
    s.frame.module.private.remove(callee)
    return callee


def private_shared(s: Scope) -> None:
    """A private function that main calls, and possibly another private function and a public one."""
    dims = s.draw_dims((0, 2), static=True, nonempty=True)

    def body(inner: Scope) -> None:
        x = b.parameter(inner, dims)
        b.finish(inner, b.unary(inner, x))

    callee = private(s, body, count=0)

    def calls_it(inner: Scope) -> None:
        finish_result(inner, called(inner, callee))

    callers: tuple[Callable[[], None], ...] = (
        lambda: finish_result(s, called(s, callee)),
        lambda: finish_result(s, called(s, private(s, calls_it))),
        lambda: _public(s, calls_it),
    )
    for caller in callers:
        if s.source.flip(KNOBS.functions.caller):
            caller()
    finish_result(s, called(s, callee))


def _public(s: Scope, build: Build) -> None:
    """A public function besides main."""
    module = s.frame.module
    frame = FunctionFrame(module, symbolic=False, level=s.frame.level + 1, prefix="x")
    function, _ = draw_function(s.source, frame, (), 0, [build])
    name = module.new_name("second")
    module.add(name, function.with_attr("global_symbol", name))
    module.public[name] = frame


def polymorphic_private(s: Scope) -> None:
    """A private function whose parameters say less of a shape than its callers know (a symbol for each dim, the rank,
    the dtype alone), called on tensors of several shapes: what holds for one call does not for all."""
    ranks = [s.source.integer(1, 3)] * 3
    symbolic = s.source.flip()
    if not symbolic and s.source.flip(KNOBS.functions.any_rank):
        ranks = [s.source.integer(0, 3) for _ in ranks]
    values = s.draw_range("float32")
    count = s.source.integer(1, 2)
    own: set[Var] = set()

    def build(inner: Scope) -> None:
        if symbolic:
            dims = tuple(inner.frame.new_symbol(inner.source) for _ in range(ranks[0]))
            operands = [b.parameter(inner, dims, values=values) for _ in range(count)]
        else:
            rank = ranks[0] if len(set(ranks)) == 1 else -1
            operands = [_hidden_parameter(inner, rank, values) for _ in range(count)]
        own.update(x.expr for x in operands)
        b.keep(inner, b.unary(inner, operands[0]) if count == 1 else b.binary(inner, operands[0], operands[1]))

    callee = private(s, build, count=0, symbolic=symbolic)
    s.frame.module.private.remove(callee)
    for rank in ranks[: s.source.integer(2, 3)]:
        shape = tuple(b.small(s) for _ in range(rank))
        here = [(var, replace(spec, shape=shape) if var in own else spec) for var, spec in callee.parameters]
        out = emit_call(s, callee.gvar, replace(callee, parameters=tuple(here)), shape)
        if out is None:
            raise Unavailable("the result is of no use")
        if isinstance(out, Value) and out.dims is None and s.source.flip():
            out = cast_to(s, out, shape)
        finish_result(s, out)


def _hidden_parameter(s: Scope, rank: int, values: Range) -> Value:
    """A parameter whose type hides its dims, and its rank where that is -1. Its shape is another one in each call."""
    return s.frame.add_typed_parameter(tvm_api.tensor_type(None, "float32", rank), None, (), "float32", values)


RECIPES = (
    Recipe("polymorphic_private", polymorphic_private, for_any=True),
    Recipe("impure_private", impure_private, plain=True),
    Recipe("private_effect_in_branch", private_effect_in_branch, plain=True),
    Recipe("private_shared", private_shared),
)
