"""The files under OUT: their fields, that they come back, and that a kill at any moment leaves them readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reports.finding_row import FindingRow, merge_rows, row_of
from reports.out_writer import OutWriter
from reports.summary import Report, UnreadableOut, append_finding, read_out, write_out
from reports.tally import Tally
from tests.reports.reports_data import NASTY, facts, finding, report, tally

SUMMARY_FIELDS = {
    *("schema", "tvm", "passfuzz", "seed", "targets", "wall_s", "cpu_s", "cases", "generated", "invalid"),
    *("skipped", "inconclusive", "passes", "ops", "oracles", "findings"),
}
FINDING_FIELDS = {
    *("signature", "oracle", "culprit", "symptom", "tier", "message", "passes", "target", "at_s", "count", "known"),
    *("case", "repro", "reduced"),
}
REDUCED_FIELDS = {
    *("bindings_before", "bindings", "statements_before", "statements", "passes_before", "passes", "oracle_calls"),
    "seconds",
}


def test_summary_has_the_fields_that_scripts_rely_on(tmp_path: Path) -> None:
    write_out(tmp_path, report(finding()))
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary.keys() >= SUMMARY_FIELDS
    assert summary["schema"] == 1
    assert summary["passes"]["FuseOps"] == {"applied": 20, "changed": 15, "rejected": 0, "failed": 1}


def test_findings_have_the_fields_that_scripts_rely_on(tmp_path: Path) -> None:
    write_out(tmp_path, report(finding(), finding("CSE")))
    lines = [json.loads(line) for line in (tmp_path / "findings.jsonl").read_text().splitlines()]
    assert [line["culprit"] for line in lines] == ["FuseOps", "CSE"]
    assert all(line.keys() >= FINDING_FIELDS for line in lines)
    assert lines[0]["reduced"].keys() >= REDUCED_FIELDS


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    written = report(finding(message=NASTY), finding("CSE", status="known"), own_fault="one line")
    write_out(tmp_path, written)
    again = read_out(tmp_path)
    assert again.to_json() == written.to_json()
    assert again.findings == written.findings
    assert [row.culprit for row in again.new] == ["FuseOps"]
    assert [row.culprit for row in again.known] == ["CSE"]


def test_an_unreduced_finding_comes_back() -> None:
    row = FindingRow("s", "well_formed", "none", "crash", "m")
    assert row.to_json()["reduced"] is None
    assert FindingRow.from_json(row.to_json()) == row
    assert row.where == "(no single pass)"


def test_the_last_line_of_a_signature_counts_and_a_cut_line_does_not(tmp_path: Path) -> None:
    write_out(tmp_path, Report(facts(), tally(), ()))
    once, twice = finding(), finding().seen_again()
    append_finding(tmp_path, row_of(once))
    append_finding(tmp_path, row_of(twice))
    with (tmp_path / "findings.jsonl").open("a") as file:
        file.write('{"signature": "half a li')
    assert [row.count for row in read_out(tmp_path).findings] == [2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file"),
        ("", "not a summary"),
        ("[]", "not a summary"),
        ("{}", "not a summary"),
        ('{"schema": 99}', "newer"),
        ('{"schema": 1, "seed": 1}', "not a summary"),
    ],
)
def test_what_is_not_a_summary_is_refused_by_name(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "summary.json").write_text(text)
    with pytest.raises(UnreadableOut, match=says) as raised:
        read_out(tmp_path)
    assert "summary.json" in str(raised.value)


def test_shards_merge_by_signature() -> None:
    late = finding(at_s=9.0).seen_again()
    early = finding(at_s=2.0)
    merged = merge_rows((row_of(late), row_of(early), row_of(finding("CSE", at_s=5.0))))
    assert [(row.culprit, row.count, row.at_s) for row in merged] == [("FuseOps", 3, 2.0), ("CSE", 1, 5.0)]


def test_the_smallest_reduction_is_kept() -> None:
    small = FindingRow("s", "o", "p", "crash", "m", case="small", reduced={"bindings": 2})
    large = FindingRow("s", "o", "p", "crash", "m", case="large", reduced={"bindings": 5})
    unreduced = FindingRow("s", "o", "p", "crash", "m", case="unreduced")
    assert [row.case for row in merge_rows((unreduced, large, small))] == ["small"]


@pytest.mark.parametrize(
    ("known", "tier", "fails"), [(False, "A", True), (False, "C", False), (True, "A", False), (False, "B", True)]
)
def test_known_findings_and_other_tiers_do_not_fail(known: bool, tier: str, fails: bool) -> None:
    row = row_of(finding(status="known" if known else "new", tier=tier))
    assert row.is_failure(("A", "B")) is fails


def test_a_killed_campaign_leaves_its_findings_and_counters(tmp_path: Path) -> None:
    writer = OutWriter(tmp_path, facts(wall_s=0.0), interval_s=5.0)
    writer.on_start(object())
    writer.on_tally(Tally(cases=3, generated=3), 1.0)
    writer.on_finding(row_of(finding()))
    before = read_out(tmp_path)
    writer.on_tally(Tally(cases=30, generated=30), 6.0)
    after = read_out(tmp_path)
    assert (before.tally.cases, len(before.findings)) == (0, 1)
    assert (after.tally.cases, after.facts.wall_s, len(after.findings)) == (30, 6.0, 1)


def test_a_new_campaign_replaces_the_files_of_an_old_one(tmp_path: Path) -> None:
    write_out(tmp_path, report(finding()))
    writer = OutWriter(tmp_path, facts())
    writer.on_start(object())
    writer.on_end()
    assert read_out(tmp_path).findings == ()


def test_a_finding_seen_again_replaces_its_line(tmp_path: Path) -> None:
    writer = OutWriter(tmp_path, facts())
    writer.on_start(object())
    writer.on_finding(row_of(finding()))
    writer.on_finding(row_of(finding().seen_again(4)))
    lines = (tmp_path / "findings.jsonl").read_text().splitlines()
    assert [json.loads(line)["count"] for line in lines] == [5]
