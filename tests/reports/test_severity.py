"""How bad a cause is, and the order in which people read causes."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from corpus.causes.severity import SEVERITIES, SILENT
from generators.case import Tier
from oracles.evidence import Died, Evidence, Hung, InKernel, NotANumber, ReferenceTrap, TrapKind
from oracles.reference.errors import symptom_of
from reports.causes import causes_of
from reports.finding_row import FindingRow, row_of
from reports.severity import best, first_seen, severity, severity_of, worst_first
from reports.words import SEVERITY_WORDS, cut, not_shown, one_screen, several, title
from tests.reports.reports_data import finding

ROW = FindingRow("s-1", "numeric", "FuseOps", "ill-formed", "a message", cause="a.cc: x")


@pytest.mark.parametrize(
    ("symptom", "evidence", "tier", "expected"),
    [
        ("wrong result", None, "B", "silent wrong result"),
        ("wrong result", NotANumber(), "A", "silent wrong result"),
        *(("any words", ReferenceTrap(kind), "A", "silent wrong result") for kind in sorted(SILENT)),
        *(
            ("any words", ReferenceTrap(kind), "B", "documented phase")
            for kind in sorted({*get_args(TrapKind)} - SILENT)
        ),
        (symptom_of("out-of-bounds"), None, "B", "documented phase"),
        (symptom_of("out-of-bounds"), InKernel("out of bounds", "k", "A"), "A", "official pipeline"),
        ("crash", Died("SIGSEGV"), "B", "native crash"),
        ("crash", Died("SIGABRT"), "A", "native crash"),
        ("crash", Died("exit status 3"), "A", "official pipeline"),
        ("crash", None, "A", "official pipeline"),
        ("crash", None, "B", "documented phase"),
        ("wrong result", None, "C", "odd order"),
        ("crash", Died("SIGSEGV"), "C", "odd order"),
    ],
)
@pytest.mark.parametrize("message", ["SIGSEGV in FuseOps", "value: 1, not 2"])
def test_the_severity_of_a_finding(
    symptom: str, evidence: Evidence | None, tier: Tier, expected: str, message: str
) -> None:
    """Whatever its message says, and its symptom where that is no wrong result."""
    assert severity_of(replace(ROW, symptom=symptom, evidence=evidence, tier=tier, message=message)) == expected


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Died("SIGSEGV"), "native crash"),
        (Died("exit status 1"), "official pipeline"),
        (Hung(), "official pipeline"),
        (None, "official pipeline"),
    ],
)
def test_a_native_crash_is_one_by_the_evidence_of_the_finding(evidence: Evidence | None, expected: str) -> None:
    row = row_of(finding(symptom="crash", evidence=evidence))
    assert severity_of(FindingRow.from_json(row.to_json())) == expected


@pytest.mark.parametrize(
    ("symptom", "died", "expected"),
    [
        ("reference trap: out-of-bounds", "", "silent wrong result"),
        ("reference trap: undefined-variable", "", "official pipeline"),
        ("crash", "SIGSEGV", "native crash"),
        ("crash", "exit status 3", "official pipeline"),
        ("crash", None, "official pipeline"),
    ],
)
def test_a_line_of_an_older_list_is_as_bad_as_it_was(symptom: str, died: str | None, expected: str) -> None:
    """It says by which signal a process died, or not even that, and has no evidence."""
    line = replace(ROW, symptom=symptom, tier="A").to_json()
    del line["evidence"]
    assert severity_of(FindingRow.from_json({**line, **({} if died is None else {"died": died})})) == expected


def test_a_cause_is_as_bad_as_its_worst_finding_which_is_shown() -> None:
    rows = (
        replace(ROW, signature="odd", tier="C", symptom="wrong result", at_s=1.0),
        replace(ROW, signature="large", tier="A", reduced={"bindings": 9}, at_s=5.0),
        replace(ROW, signature="small", tier="A", reduced={"bindings": 2}, at_s=7.0),
        replace(ROW, signature="phase", tier="B", reduced={"bindings": 1}, at_s=3.0),
    )
    (cause,) = causes_of(rows)
    assert (severity(cause), best(cause).signature, first_seen(cause)) == ("official pipeline", "small", 1.0)


def test_what_is_new_comes_first_then_the_worst_then_by_pass_then_by_time() -> None:
    def row(cause: str, **changes: object) -> FindingRow:
        return replace(ROW, signature=cause, cause=cause, **changes)  # type: ignore[arg-type]

    rows = (
        row("known", symptom="wrong result", known=True, standing="known"),
        row("odd", tier="C"),
        row("later", at_s=9.0),
        row("sooner", at_s=2.0),
        row("other pass", culprit="CSE", at_s=20.0),
        row("pipeline", tier="A"),
        row("back", tier="A", standing="returned", culprit="Zero"),
        row("wrong", symptom="wrong result"),
    )
    order = [cause.cause for cause in worst_first(causes_of(rows))]
    assert order == ["wrong", "pipeline", "back", "other pass", "sooner", "later", "odd", "known"]


def test_a_title_is_the_registrys_or_the_issues_or_the_message() -> None:
    (cause,) = causes_of((ROW,))
    (named,) = causes_of((ROW, replace(ROW, signature="s-2", title="of the registry")))
    (bare,) = causes_of((replace(ROW, message=""),))
    assert title(cause) == "a message"
    assert title(cause, "of the issue") == "of the issue"
    assert title(named, "of the issue") == "of the registry"
    assert title(bare) == "ill-formed"


def test_every_severity_has_words() -> None:
    assert (*SEVERITY_WORDS, "limitation") == SEVERITIES
    assert len({words.anchor for words in SEVERITY_WORDS.values()}) == len(SEVERITY_WORDS)


def test_many_causes_in_a_line() -> None:
    rows = [replace(ROW, signature=f"s{n}", cause=f"c{n}", culprit=f"P{n % 7}") for n in range(15)]
    assert several(causes_of(rows), "known") == "15 known: P0 (3), P1 (2), P2 (2), P3 (2), P4 (2), 2 more passes"
    assert several((), "known") == ""


def test_a_screen_has_no_odd_orders_and_says_what_it_leaves_out() -> None:
    rows = [replace(ROW, signature=f"s{n}", cause=f"c{n}", tier="ABC"[n % 3]) for n in range(60)]
    shown, left = one_screen(worst_first(causes_of(rows)))
    assert [severity(cause) for cause in shown] == ["official pipeline"] * 20
    assert not_shown(left) == "and 20 more: 20 documented phase"


@pytest.mark.parametrize(
    ("text", "most", "expected"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abc", 0, "…"), ("", 0, "")]
)
def test_a_text_is_cut(text: str, most: int, expected: str) -> None:
    assert cut(text, most) == expected
