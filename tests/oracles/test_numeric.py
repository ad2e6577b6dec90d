"""The numeric oracle: planted wrong passes, passes that only reassociate, and calling conventions of real passes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tvm import relax

from corpus.scripts.module_text import live_module
from generators.case import Argument, EntryCall, ModuleText, PassCall
from generators.passes.row import Meaning, PassRow
from generators.source import SeededSource
from oracles.checks import numeric
from oracles.checks.numeric import judge
from oracles.evidence import ReferenceTrap
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.trace import outcome_at
from oracles.verdict import PASSED, Failed, Inconclusive, Skipped, Verdict
from oracles.walk import moved
from oracles.workbench import Workbench
from tests.oracles.modules import add_in_place
from tests.oracles.oracle_bench import module_of, row_of, step_between

X = np.random.default_rng(1).uniform(-2, 2, (4, 4)).astype(np.float32)
Y = np.random.default_rng(2).uniform(-2, 2, (4, 4)).astype(np.float32)
Z = np.random.default_rng(3).uniform(-2, 2, (4, 4)).astype(np.float32)


def program(lines: str, parameters: str = "xyz", result: str = "r", attributes: str = "") -> Any:
    """A module whose main has float32 parameters of shape (4, 4)."""
    declared = ", ".join(f'{name}: R.Tensor((4, 4), "float32")' for name in parameters)
    body = "\n".join(f"            {line}" for line in lines.strip().splitlines())
    head = f"        {attributes}\n" if attributes else ""
    return module_of(
        f"@I.ir_module\nclass Module:\n    @R.function\n    def main({declared}):\n{head}"
        f"        with R.dataflow():\n{body}\n            R.output({result})\n        return {result}\n"
    )


def judged(before: Any, after: Any, row: PassRow | None = None, arguments: tuple[Argument, ...] = (X, Y, Z)) -> Verdict:
    """The oracle's word on a pass that gives `after`."""
    row = row or row_of("Planted")
    bench = Workbench(SeededSource(0), Numbers(before, [EntryCall("main", arguments)]))
    return judge(step_between(PassCall(row.name, row.name), row, before, after), bench)


SUM = "r = R.add(R.add(x, y), z)"
WRONG: dict[str, tuple[str, str]] = {
    "another operator": (SUM, "r = R.add(R.subtract(x, y), z)"),
    "an operand dropped": (SUM, "r = R.add(x, y)"),
    "operands exchanged": ("r = R.matmul(x, y)", "r = R.matmul(y, x)"),
    "transposed result": ("r = R.matmul(x, y)", "r = R.permute_dims(R.matmul(x, y))"),
    "another axis": ("r = R.nn.softmax(x, axis=0)", "r = R.nn.softmax(x, axis=1)"),
    "a constant off by a little": (
        'r = R.multiply(x, R.const(1.0, "float32"))',
        'r = R.multiply(x, R.const(1.001, "float32"))',
    ),
    "another dtype": ("r = R.add(x, y)", 'r = R.astype(R.add(x, y), "float64")'),
    "outputs exchanged": ("r = (x, y)", "r = (y, x)"),
    "precision thrown away": ("r = R.add(x, y)", 'r = R.astype(R.astype(R.add(x, y), "float16"), "float32")'),
}


@pytest.mark.parametrize(("before", "after"), WRONG.values(), ids=WRONG)
def test_wrong_pass_is_caught(before: str, after: str) -> None:
    verdict = judged(program(before), program(after))
    assert isinstance(verdict, Failed) and verdict.symptom == "wrong result"


def printer_raises(before: Any, after: Any) -> str:
    raise ValueError("nothing to print")


@pytest.mark.parametrize(
    ("printer", "how"),
    [
        (lambda before, after: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
        (printer_raises, "ValueError: nothing to print"),
    ],
)
def test_a_wrong_result_stands_where_the_printer_fails_on_it(
    monkeypatch: pytest.MonkeyPatch, printer: Callable[[Any, Any], Any], how: str
) -> None:
    monkeypatch.setattr(numeric, "difference", printer)
    verdict = judged(program(SUM), program("r = R.add(x, y)"))
    assert isinstance(verdict, Failed) and verdict.symptom == "wrong result"
    assert verdict.difference == f"TVM's printer fails on what the pass changed: {how}\n"


RIGHT: dict[str, tuple[str, str]] = {
    "sums reassociated": (SUM, "r = R.add(x, R.add(y, z))"),
    "products reassociated": ("r = R.matmul(R.matmul(x, y), z)", "r = R.matmul(x, R.matmul(y, z))"),
    "distributed": (
        "r = R.multiply(x, R.add(y, z))",
        "a = R.multiply(x, y)\nb = R.multiply(x, z)\nr = R.add(a, b)",
    ),
    "softmax by hand": (
        "r = R.nn.softmax(x, axis=1)",
        "e = R.exp(x)\nr = R.divide(e, R.sum(e, axis=1, keepdims=True))",
    ),
    "sigmoid through tanh": (
        "r = R.sigmoid(x)",
        'h = R.tanh(R.multiply(x, R.const(0.5, "float32")))\n'
        'r = R.multiply(R.add(h, R.const(1.0, "float32")), R.const(0.5, "float32"))',
    ),
    "mean as a scaled sum": (
        "r = R.mean(x, axis=1)",
        'r = R.multiply(R.sum(x, axis=1), R.const(0.25, "float32"))',
    ),
}


@pytest.mark.parametrize(("before", "after"), RIGHT.values(), ids=RIGHT)
def test_pass_that_only_rounds_differently_passes(before: str, after: str) -> None:
    assert judged(program(before), program(after)) == PASSED


def test_trap_that_a_pass_brings_in_is_its_failure() -> None:
    before, broken = program("r = R.add(x, y)"), program("r = R.add(x, y)")
    stranger = relax.Var("nowhere", relax.TensorType((4, 4), "float32"))
    function = broken["main"]
    body = relax.SeqExpr([], stranger)
    relax.expr._update_type(body, stranger.ty)
    broken["main"] = relax.Function(function.params, body, function.ret_ty)
    verdict = judged(before, broken)
    assert isinstance(verdict, Failed)
    assert (verdict.symptom, verdict.message) == ("reference trap: undefined-variable", "variable nowhere in main")


def test_pass_that_changes_the_numbers_on_purpose_is_not_judged_nor_is_what_follows() -> None:
    before, after = program(SUM), program("r = R.multiply(x, y)")
    row = row_of("Planted", meaning=Meaning.CHANGED)
    assert judged(before, after, row) == Skipped("numbers: changed on purpose")
    step = step_between(PassCall(row.name, row.name), row, before, after)
    assert step.end is not None
    later = moved(step.end, PassCall("Later", "Later"), row_of("Later"), before, 1, True)
    assert outcome_at(later, Numbers(before, [EntryCall("main", (X, Y, Z))])) == Unsure("numbers: changed on purpose")


IN_HALVES = 'h = R.astype(R.multiply(x, y), "float16")\nr = R.astype(h, "float32")'
LOWERING = row_of("Planted", meaning=Meaning.APPROXIMATE, lowers_to="float16")


def test_pass_that_lowers_the_precision_is_judged_in_that_precision() -> None:
    reals = "r = R.multiply(x, R.divide(y, R.const(3.0, 'float32')))"
    halves = 'h = R.astype(R.divide(y, R.const(3.0, "float32")), "float16")\nr = R.multiply(x, R.astype(h, "float32"))'
    assert judged(program(reals), program(halves), LOWERING) == PASSED
    assert isinstance(judged(program(reals), program(halves)), Failed), "others may not round to float16"


def test_wrong_result_of_a_pass_that_lowers_the_precision_is_its_failure() -> None:
    verdict = judged(program(IN_HALVES), program("r = R.subtract(x, y)"), LOWERING)
    assert isinstance(verdict, Failed) and verdict.symptom == "wrong result"


def test_result_that_nothing_is_known_of_is_inconclusive() -> None:
    near = "r = R.floor(R.sin(R.asin(R.ones_like(x))))"
    assert isinstance(judged(program(near), program("r = R.floor(R.sin(R.asin(R.ones_like(y))))")), Inconclusive)


def test_constant_that_is_overwritten_in_place_is_seen_by_the_second_call() -> None:
    own = live_module(ModuleText(add_in_place('c = R.zeros((2,), "float32")')))
    shared = live_module(ModuleText(add_in_place('c = R.const(np.zeros(2, "float32"))')))
    call = EntryCall("main", (np.ones(2, np.float32),))
    assert Numbers(own, [call]).judge_module(shared) is None
    wrong = Numbers(own, [call, call]).judge_module(shared)
    assert isinstance(wrong, Wrong) and wrong.call == 1


def test_the_change_is_printed_but_for_a_trap_in_a_result_that_is_broken_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is printed in a child: a fork for a verdict that `fuzzer.trial.ask` leaves out."""
    printed: list[str] = []
    monkeypatch.setattr(numeric, "change_of", lambda step, guarded: printed.append(step.call.name) or "shown")
    before, after = program("r = R.add(x, y)"), program("r = R.subtract(x, y)")
    traps = Wrong("reference trap: planted", "planted", 0, ReferenceTrap("planted"), "")
    for found, broken, shown in ((traps, False, "shown"), (traps, True, ""), (None, True, "shown")):
        numbers = Numbers(before, [EntryCall("main", (X, Y, Z))])
        if found is not None:
            monkeypatch.setattr(numbers, "judge_module", lambda *_, found=found: found)
        step = step_between(PassCall("Planted", "Planted"), row_of("Planted"), before, after)
        verdict = judge(replace(step, broken=broken), Workbench(SeededSource(0), numbers))
        assert isinstance(verdict, Failed) and verdict.difference == shown
    assert len(printed) == 2
