"""Recipes of nested values: tuples of tuples, in a block, out of it and out of functions, and conditions
made of truths that the branches read.
"""

from __future__ import annotations

from generators.recipes import blocks as b
from generators.recipes.functions import called, private
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.calls_and_ifs import decided_if
from generators.relax.nested_tuples import draw_parts, nested, nested_output, taken_apart
from generators.relax.scope import Scope
from generators.relax.values import TupleValue
from generators.unavailable import Unavailable


def tuples_of_tuples(s: Scope) -> None:
    """Different values of one type in tuples in a tuple; values computed from some of them come out."""
    whole = nested(s, draw_parts(s))
    b.finish(s, *taken_apart(s, whole))
    if s.source.flip(KNOBS.shared.nested_returned):
        b.keep(s, whole)


def nested_outputs(s: Scope) -> None:
    """A block whose output is a nested tuple of hidden values; the tuple is taken apart after the block."""
    whole = nested_output(s, b.keep)
    if s.source.flip(KNOBS.shared.nested_returned):
        b.keep(s, whole)


def nested_results(s: Scope) -> None:
    """A private function that returns a nested tuple, and calls of it whose results are taken apart."""

    def build(inner: Scope) -> None:
        b.keep(inner, nested(inner, draw_parts(inner), exported=True))

    callee = private(s, build, count=0)
    for _ in range(s.source.integer(1, 2)):
        result = called(s, callee)
        if not isinstance(result, TupleValue):
            raise Unavailable("the function returns no tuple")
        b.finish(s, *taken_apart(s, result))


def if_on_truths(s: Scope) -> None:
    """An If on a condition of several truths, which its branches read."""
    b.finish(s, b.as_tensor(decided_if(s)))


RECIPES = (
    Recipe("tuples_of_tuples", tuples_of_tuples),
    Recipe("nested_outputs", nested_outputs, dataflow=True),
    Recipe("nested_results", nested_results),
    Recipe("if_on_truths", if_on_truths, plain=True),
)
