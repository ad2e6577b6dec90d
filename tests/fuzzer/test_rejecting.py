"""A pass of the user's own that does nothing but reject: the run says so at its end."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("TVM_NUM_THREADS", "1")

import pytest

from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.rejecting import always_rejecting
from fuzzer.settings import read_settings
from reports.tally import MOST_REASONS, OTHER_REASONS, Tally

LOADED = """
import tvm

@tvm.transform.module_pass(opt_level=0)
def never(module, context):
    raise NotImplementedError(f"no module of {len(module.functions)} functions yet")

@tvm.transform.module_pass(opt_level=0)
def always(module, context):
    return module

PASSES = {"Never": lambda: never, "Always": lambda: always}
"""


def counted(*columns: tuple[str, int], **reasons: int) -> Tally:
    tally = Tally()
    for reason, number in reasons.items():
        tally.count_refusal("Mine", reason, number)
    for column, number in columns:
        tally.add(Tally(passes={"Mine": {column: number}}))  # type: ignore[dict-item]
    return tally


@pytest.mark.parametrize(
    ("tally", "lines"),
    [
        (
            counted(("applied", 3), ("rejected", 3), a=1, b=2),
            ["Mine rejected all 3 modules that it was given, most often with b"],
        ),
        (counted(("applied", 1), ("rejected", 1), a=1), ["Mine rejected the one module that it was given, with a"]),
        (counted(("applied", 3), ("rejected", 2), a=2), []),
        (Tally(), []),
    ],
)
def test_only_what_rejects_everything_is_told(tally: Tally, lines: list[str]) -> None:
    assert list(always_rejecting(tally, ("Mine", "NeverApplied"))) == lines


def test_reasons_do_not_grow_without_bound() -> None:
    one, both = Tally(), Tally()
    for number in range(2 * MOST_REASONS):
        one.count_refusal("Mine", f"reason {number}")
    both.add(one)
    both.add(one)
    assert len(both.refusals["Mine"]) == MOST_REASONS + 1
    assert both.refusals["Mine"][OTHER_REASONS] == 2 * MOST_REASONS
    assert sum(both.refusals["Mine"].values()) == 4 * MOST_REASONS


def test_a_run_says_that_a_pass_has_rejected_everything(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LOADED)
    options = read_settings(seed=1, cases=8, jobs=1, load=tmp_path / "mine.py", out=tmp_path / "out")
    result = run_campaign(options, Observers())
    (note,) = result.notes
    number = result.tally.passes["Never"]["applied"]
    assert note.startswith(f"Never rejected all {number} modules that it was given, with NotImplementedError: no ")
