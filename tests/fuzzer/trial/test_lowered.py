"""Which operator a lowering gets wrong, and what of its call matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from tvm import relax, te, topi

from corpus.causes.failure_facts import Rewrite
from corpus.scripts.module_text import live_module
from fuzzer.trial.cause.lowered import narrowed
from generators.case import EntryCall, ModuleText
from generators.passes.table import PASSES, default_call
from oracles.checks.legalised import LEGALIZE
from oracles.ir.rewrite import rewritten
from oracles.reference.numbers import Numbers
from oracles.trace import Position
from oracles.walk import walk
from tests.oracles.oracle_bench import RealBench

HEAD = "@I.ir_module\nclass Module:\n    @R.function\n    def main"
VALUES = np.array([[3.0, -2.0], [5.0, 7.0]])


LEGALIZES = relax.transform.LegalizeOps
Wrong: TypeAlias = dict[str, Callable[..., Any]]
"""Wrong lowerings of operators, by name."""


def told(lines: str, monkeypatch: pytest.MonkeyPatch, wrong: Wrong, dtype: str = "float32") -> tuple[str, ...]:
    """What LegalizeOps with wrong lowerings is said to take away, of a program with a parameter x."""
    monkeypatch.setattr(relax.transform, "LegalizeOps", lambda skip_ops=None: LEGALIZES(wrong, skip_ops))
    module = live_module(ModuleText(f'{HEAD}(x: R.Tensor((2, 2), "{dtype}")):\n{lines}\n'))
    numbers = Numbers(module, (EntryCall("main", (VALUES.astype(dtype),)),))
    bench = RealBench(target="llvm")
    (step,) = walk(Position.at(module), [default_call(LEGALIZE)], PASSES, bench)
    assert step.after is not None
    kinds = rewritten(step.before, step.after, named=True)
    return tuple(map(str, narrowed(step, Rewrite(kinds.removed, kinds.added), numbers, bench).removed))


def _scan(is_wrong: Callable[[Any], bool]) -> Callable[..., Any]:
    """A lowering of cumsum that is wrong for some calls."""

    def lower(builder: Any, call: Any) -> Any:
        exclusive = bool(call.attrs.exclusive) != is_wrong(call)
        return builder.call_te(topi.cumsum, call.args[0], int(call.attrs.axis), None, exclusive)

    return lower


def _negative(builder: Any, call: Any) -> Any:
    return builder.call_te(lambda x: te.compute(x.shape, lambda *at: -x(*at)), call.args[0])


ONE = "        y = R.cumsum(x, axis={axis}, exclusive={exclusive})\n        return y"
TWO = "        z = R.exp(x)\n        y = R.abs(z)\n        return (z, y)"


def test_the_operator_whose_code_alone_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(TWO, monkeypatch, {"relax.abs": _negative}) == ("abs",)
    assert told(TWO, monkeypatch, {"relax.abs": _negative, "relax.exp": _negative}) == ("abs",)


def test_an_attribute_counts_without_which_the_result_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    of_flag = {"relax.cumsum": _scan(lambda call: bool(call.attrs.exclusive))}
    of_any = {"relax.cumsum": _scan(lambda call: True)}
    program = ONE.format(axis=1, exclusive=True)
    assert told(program, monkeypatch, of_flag) == ("cumsum with exclusive",)
    assert told(program, monkeypatch, of_any) == ("cumsum",)
    assert told(ONE.format(axis=1, exclusive=False), monkeypatch, of_any) == ("cumsum",)


def test_a_dtype_counts_without_which_the_result_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    of_half = {"relax.cumsum": _scan(lambda call: str(call.args[0].ty.dtype) == "float16")}
    program = ONE.format(axis=0, exclusive=False)
    assert told(program, monkeypatch, of_half, "float16") == ("cumsum on float16",)
    of_any = {"relax.cumsum": _scan(lambda call: True)}
    assert told(program, monkeypatch, of_any, "float16") == ("cumsum",)
