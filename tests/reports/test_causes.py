"""Findings counted by cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.causes import causes_of, headline
from reports.finding_row import FindingRow, Standing, merge_rows
from reports.summary import Report
from tests.reports.reports_data import facts, tally


def row(slug: str, cause: str = "a", standing: Standing = "new", tier: str = "B", **more: object) -> FindingRow:
    known = standing in ("known", "limitation")
    made = FindingRow(slug, "numeric", "CSE", "crash", "it crashed", tier, cause=cause, standing=standing, known=known)
    return replace(made, **more)  # type: ignore[arg-type]


def test_several_findings_of_a_cause_are_one() -> None:
    rows = (row("x", tier="C", count=2), row("y", "b", title="B", link="apache/tvm#1"), row("z", tier="A", count=3))
    first, second = causes_of(rows)
    assert [one.signature for one in first.findings] == ["x", "z"]
    assert (first.tier, first.count, first.standing, first.known) == ("A", 5, "new", False)
    assert (first.title, second.title, second.link) == ("CSE: crash: it crashed", "B", "apache/tvm#1")
    assert first.id != second.id and len(first.id) == 8


def test_findings_of_older_versions_are_causes_of_their_own() -> None:
    first, second = causes_of((row("x", ""), row("y", "")))
    assert (first.cause, second.cause) == ("", "")
    assert first.id != second.id


@pytest.mark.parametrize(
    ("standings", "worst"),
    [
        (("new", "known"), "new"),
        (("known", "returned", "new"), "returned"),
        (("limitation", "known"), "known"),
        (("limitation",), "limitation"),
    ],
)
def test_the_worst_standing_counts(standings: tuple[Standing, ...], worst: str) -> None:
    (cause,) = causes_of(row(str(number), standing=one) for number, one in enumerate(standings))
    assert cause.standing == worst
    assert cause.is_failure(("B",)) is (worst in ("new", "returned"))
    assert not cause.is_failure(("A",))


def test_one_sighting_in_an_official_pipeline_is_enough() -> None:
    (cause,) = causes_of((row("x", tier="C"), row("y", tier="A")))
    assert cause.is_failure(("A",))


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ((), "0 new causes, 0 known"),
        ((row("x"), row("y"), row("z", "b")), "2 new causes (3 findings), 0 known"),
        ((row("x"), row("y", "b", "known"), row("z", "b", "known")), "1 new cause (1 finding), 1 known"),
        ((row("x", standing="returned"), row("y", "l", "limitation")), "0 new causes, 1 returned, 1 known"),
    ],
)
def test_the_headline(rows: tuple[FindingRow, ...], line: str) -> None:
    assert headline(rows) == line


def test_the_summary_lists_causes() -> None:
    data = Report(facts(), tally(), (row("x"), row("y"), row("z", "b", "known"))).to_json()
    told = [(one["cause"], one["standing"], one["tier"], one["count"], one["findings"]) for one in data["causes"]]
    assert told == [("a", "new", "B", 2, ["x", "y"]), ("b", "known", "B", 1, ["z"])]


def test_a_merge_keeps_the_best_tier_and_what_is_known() -> None:
    (merged,) = merge_rows(
        (row("x", tier="C", reduced={"bindings": 1}), row("x", standing="known", title="T", tier="B"))
    )
    assert (merged.tier, merged.known, merged.standing, merged.title) == ("B", True, "known", "T")


def test_a_line_of_an_older_version_stands_as_it_says() -> None:
    line = row("x").to_json()
    del line["standing"], line["cause"]
    assert FindingRow.from_json({**line, "known": True}).standing == "known"
    assert FindingRow.from_json({**line, "known": False}).standing == "new"
    assert FindingRow.from_json({**row("x").to_json(), "known": True}).known is False
