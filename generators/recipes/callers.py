"""Recipes of private functions by who calls them: plain blocks for an effect, and several functions at once."""

from __future__ import annotations

from collections.abc import Callable

from generators.recipes import blocks as b
from generators.recipes.functions import Build, called, finish_result, private
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.calls_and_ifs import draw_impure
from generators.relax.frames import FunctionFrame, PrivateFunction
from generators.relax.functions import draw_function
from generators.relax.scope import Scope


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


RECIPES = (
    Recipe("impure_private", impure_private, plain=True),
    Recipe("private_shared", private_shared),
)
