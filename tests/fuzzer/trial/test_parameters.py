"""The operators that parameters reach: by other names, moved, in branches and in functions that are called."""

from __future__ import annotations

import math
from typing import Any

import pytest

from corpus.scripts.module_text import live_module
from fuzzer.trial.subject.domains import domains_of
from fuzzer.trial.subject.parameters import ValueOrigin, uses
from fuzzer.trial.subject.scales import PLAIN, ranges_of
from generators.case import ModuleText
from generators.operators.domain import UNIT

CALLED = """
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(a: R.Tensor((3, 16), "float32"), b: R.Tensor((16, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        product = R.matmul(a, b)
        return product

    @R.function
    def main(
        x: R.Tensor((3, 16), "float32"), w: R.Tuple(R.Tensor((4, 16), "float32")), p: R.Tensor((), "bool")
    ) -> R.Tensor((3, 4), "float32"):
        cls = Module
        field = w[0]
        turned = R.permute_dims(field, axes=[1, 0])
        if p:
            y = cls.inner(x, turned)
        else:
            doubled = R.add(x, x)
            y = R.matmul(doubled, turned)
        return y
"""
SAMPLED = """
@I.ir_module
class Module:
    @R.function
    def main(
        weights: R.Tensor((4, 4), "float32"), u: R.Tensor((6, 1), "float32"), rows: R.Tensor((6, 1), "int64")
    ) -> R.Tensor((6, 1), "int64"):
        turned = R.permute_dims(weights, axes=[1, 0])
        found = R.multinomial_from_uniform(turned, u, rows, dtype="int64")
        return found
"""
ENDLESS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        y: R.Tensor((2,), "float32") = cls.main(x)
        z = R.add(x, y)
        return z
"""


def module_of(text: str) -> Any:
    return live_module(ModuleText(text))


def test_origins_of_operands() -> None:
    found = [(str(use.call.op.name), *map(use.origin, use.call.args)) for use in uses(module_of(CALLED), "main")]
    moved = ValueOrigin((1, 0), moved=True)
    assert found == [
        ("relax.permute_dims", ValueOrigin((1, 0))),
        ("relax.matmul", ValueOrigin((0,)), moved),
        ("relax.add", ValueOrigin((0,)), ValueOrigin((0,))),
        ("relax.matmul", None, moved),
    ]


def test_a_weight_is_found_where_it_is_moved_and_in_a_function_that_is_called() -> None:
    ranges = ranges_of(module_of(CALLED), "main", int)
    assert set(ranges) == {(1, 0)}
    assert ranges[1, 0].high == pytest.approx(PLAIN.high / math.sqrt(16))


def test_what_is_moved_has_no_domain() -> None:
    assert domains_of(module_of(SAMPLED), "main") == {(1,): UNIT}


def test_recursion_comes_to_an_end() -> None:
    names = [str(use.call.op.name) for use in uses(module_of(ENDLESS), "main")]
    assert set(names) == {"relax.add"}
    assert 1 < len(names) < 20
