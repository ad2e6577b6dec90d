"""The files under OUT: their fields, that they come back, and that a kill at any moment leaves them readable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oracles.evidence import Died
from reports.finding_row import FindingRow, merge_rows, row_of
from reports.out_writer import OutWriter
from reports.summary import UNREDUCED_FILE, Report, RunEnd, UnreadableOut, append_finding, read_out, write_out
from reports.tally import Tally
from reports.words import ended_line
from tests.corpus.test_finding import finding as live_finding
from tests.reports.reports_data import NASTY, facts, finding, known_finding, report, tally

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
    assert summary["passes"]["FuseOps"] == {"applied": 20, "changed": 15, "rejected": 0, "failed": 1, "undecided": 0}


def test_findings_have_the_fields_that_scripts_rely_on(tmp_path: Path) -> None:
    write_out(tmp_path, report(finding(), finding("CSE")))
    lines = [json.loads(line) for line in (tmp_path / "findings.jsonl").read_text().splitlines()]
    assert [line["culprit"] for line in lines] == ["FuseOps", "CSE"]
    assert all(line.keys() >= FINDING_FIELDS for line in lines)
    assert lines[0]["reduced"].keys() >= REDUCED_FIELDS


def test_the_row_of_a_finding_says_what_it_is() -> None:
    live = live_finding()
    row = row_of(live).to_json()
    assert row.keys() >= FINDING_FIELDS
    assert {name: row[name] for name in ("oracle", "culprit", "symptom", "tier", "message", "at_s", "count")} == {
        "oracle": "survives",
        "culprit": "FoldConstant",
        "symptom": "crash",
        "tier": "B",
        "message": "Check failed: (x) is false: 0xdead",
        "at_s": 12.346,
        "count": 1,
    }
    assert row["passes"] == ["relax.transform.FoldConstant()"]
    assert row["repro"] == f"{row['case']}/repro.py" == f"findings/{row['signature']}/repro.py"
    assert row["reduced"] == {
        "bindings_before": 12,
        "bindings": 2,
        "statements_before": 0,
        "statements": 0,
        "passes_before": 5,
        "passes": 1,
        "oracle_calls": 40,
        "seconds": 0.25,
    }
    killed = replace(live, verdict=replace(live.verdict, evidence=Died("SIGSEGV")))
    assert (row_of(live).evidence, row_of(killed).evidence) == (None, Died("SIGSEGV"))


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    written = report(finding(message=NASTY), known_finding("CSE"), own_fault="one line")
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


def _summary(tmp_path: Path, **changes: Any) -> Path:
    write_out(tmp_path, report(finding()))
    (tmp_path / "findings.jsonl").unlink()
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


ODD = [
    ({"cases": None}, "cases: "),
    ({"cases": "3"}, "cases: "),
    ({"cases": -1}, "cases: "),
    ({"cases": 10**30}, "cases: "),
    ({"passes": {"FuseOps": {"applied": None}}}, "passes: "),
    ({"passes": {"FuseOps": {"odd": 1}}}, "odd"),
    ({"skipped": {"x": []}}, "skipped: "),
    ({"wall_s": float("nan")}, "malformed"),
    ({"wall_s": float("inf")}, "malformed"),
    ({"tvm": None}, "$.tvm"),
    ({"tvm": ["0.27"]}, "$.tvm"),
    ({"targets": "llvm"}, "$.targets"),
    ({"targets": [None]}, "$.targets"),
    ({"seed": 1.5}, "$.seed"),
    ({"own_fault": 3}, "$.own_fault"),
    ({"ended": "maybe"}, "$.ended"),
    ({"schema": "1"}, "$.schema"),
    ({"findings": None}, "array"),
]


@pytest.mark.parametrize(("changes", "says"), ODD)
def test_a_mistyped_field_is_named(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    path = _summary(tmp_path, **changes)
    with pytest.raises(UnreadableOut) as raised:
        read_out(tmp_path)
    assert str(raised.value).startswith(f"{path}: not a summary of passfuzz")
    assert says in str(raised.value)


@pytest.mark.parametrize("text", ["[/bold]", "[red]", "\x1b[31m", "\u202e", "{}", "%s"])
def test_a_text_of_a_summary_is_data(tmp_path: Path, text: str) -> None:
    _summary(tmp_path, tvm=text, targets=[text], shard=text)
    assert read_out(tmp_path).facts.tvm == text


def test_a_corrupt_finding_of_a_summary_is_named_and_the_others_count(tmp_path: Path) -> None:
    rows = report(finding(), finding("CSE")).to_json()["findings"]
    path = _summary(tmp_path, findings=[rows[0], {**rows[1], "count": "many"}, None, rows[1]])
    read = read_out(tmp_path)
    assert [row.culprit for row in read.findings] == ["FuseOps", "CSE"]
    (note,) = read.notes
    assert note.startswith(f"{path}: 2 corrupt findings are left out: finding 2: ") and "$.count" in note


def test_many_corrupt_lines_make_one_note(tmp_path: Path) -> None:
    write_out(tmp_path, report(finding()))
    with (tmp_path / "findings.jsonl").open("a") as file:
        file.write("[1]\n" * 100)
    (note,) = read_out(tmp_path).notes
    assert "100 corrupt findings" in note and note.endswith("; and 97 more") and len(note) < 2000


def test_how_a_run_ended_comes_back_and_old_files_do_not_say_it(tmp_path: Path) -> None:
    for ended in (None, "done", "interrupted", "fault"):
        write_out(tmp_path, Report(replace(facts(), ended=ended), tally(), ()))
        assert json.loads((tmp_path / "summary.json").read_text())["ended"] == ended
        assert read_out(tmp_path).facts.ended == ended
    summary = json.loads((tmp_path / "summary.json").read_text())
    del summary["ended"]
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    assert read_out(tmp_path).facts.ended == "unknown"
    write_out(tmp_path, read_out(tmp_path))
    assert "ended" not in json.loads((tmp_path / "summary.json").read_text())


@pytest.mark.parametrize(
    "path", ["javascript:alert(1)", "/etc/passwd", "findings/../x/repro.py", "findings/a/repro.py\n"]
)
def test_paths_that_passfuzz_does_not_write_are_left_out(path: str) -> None:
    row = FindingRow.from_json({**row_of(finding()).to_json(), "repro": path, "case": path})
    assert (row.repro, row.case) == ("", "")


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(("count", wrong) for wrong in (-1, 1.5, 2**53 + 1, 10**30, True, None, "1")),
        *(("at_s", wrong) for wrong in (-0.1, 1e300, float("inf"), float("nan"), 2**53 + 1, None, "1")),
        *(("reduced", wrong) for wrong in ([], "x", {"bindings": -1}, {"bindings": None}, {"bindings": 1e300}, False)),
        *(("passes", wrong) for wrong in ("FuseOps", [1], None, {})),
        *(("signature", wrong) for wrong in ("..", "a/b", "", 5, None)),
        *(("known", wrong) for wrong in (0, "yes", None)),
    ],
)
def test_a_line_with_a_wrong_value_is_refused(field: str, wrong: object) -> None:
    good = row_of(finding()).to_json()
    FindingRow.from_json(good)
    with pytest.raises(ValueError):
        FindingRow.from_json({**good, field: wrong})


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(("wall_s", wrong) for wrong in (-1, 1e300, None, "1")),
        *(("unreduced", wrong) for wrong in (-1, 1.5, 2**53 + 1, None)),
        *(("ended", wrong) for wrong in ("well", 1, [])),
        *(("targets", wrong) for wrong in ("llvm", [1], None)),
        *(("seed", wrong) for wrong in ("1", 1.5, None)),
        *(("interrupted", wrong) for wrong in (0, None)),
    ],
)
def test_a_summary_with_a_wrong_fact_is_refused(tmp_path: Path, field: str, wrong: object) -> None:
    write_out(tmp_path, report(finding()))
    summary = json.loads((tmp_path / "summary.json").read_text())
    (tmp_path / "summary.json").write_text(json.dumps({**summary, field: wrong}))
    with pytest.raises(UnreadableOut):
        read_out(tmp_path)


def test_the_files_of_an_older_passfuzz_are_read(tmp_path: Path) -> None:
    """The fields that had no default from the beginning are enough, and those of a newer one do no harm."""
    facts = {"schema": 1, "tvm": "0.26", "passfuzz": "0.0.1", "seed": 3, "targets": ["llvm"], "of_later": {"a": None}}
    found = {"signature": "a-b-00000000", "oracle": "o", "culprit": "P", "symptom": "crash", "message": "m"}
    (tmp_path / "summary.json").write_text(json.dumps({**facts, "findings": [{**found, "of_later": [1]}]}))
    read = read_out(tmp_path)
    assert (read.facts.seed, read.facts.targets, read.facts.ended, read.facts.shard) == (3, ("llvm",), "unknown", "1/1")
    (row,) = read.findings
    assert (row.signature, row.count, row.passes, dict(row.reduced), row.tier) == ("a-b-00000000", 1, (), {}, "B")
    assert not read.notes


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
    row = known_finding("FuseOps", tier=tier) if known else row_of(finding(tier=tier))
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


@pytest.mark.parametrize(("ended", "unreduced"), [(None, 2), ("done", 1)])
def test_what_a_killed_run_had_seen_is_counted_where_it_stands(
    tmp_path: Path, ended: RunEnd | None, unreduced: int
) -> None:
    """unreduced.jsonl is written at once, summary.json now and then."""
    write_out(tmp_path, replace(report(), facts=replace(facts(), ended=ended, unreduced=1)))
    (tmp_path / UNREDUCED_FILE).write_text("{}\n{}\n")
    read = read_out(tmp_path)
    assert read.facts.unreduced == unreduced
    assert f"{unreduced} failure" in ended_line(read.facts)


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


def test_reports_that_take_long_are_written_seldom_and_counters_as_ever(tmp_path: Path) -> None:
    """Writing takes 1 s here, 2 % of 50."""
    moments = iter(range(1000))
    written: list[float] = []
    writer = OutWriter(
        tmp_path,
        facts(wall_s=0.0),
        interval_s=5.0,
        others=lambda out, report: written.append(report.facts.wall_s),
        clock=lambda: float(next(moments)),
    )
    writer.on_start(object())
    for now in range(1, 121):
        writer.on_tally(Tally(cases=now, generated=now), float(now))
        assert read_out(tmp_path).tally.cases >= now - 5
    assert written == [0.0, 50.0, 100.0]
    writer.write(replace(report(finding()), facts=facts(wall_s=120.0)))
    assert written[-1] == 120.0, "the last word is written however long it takes"
