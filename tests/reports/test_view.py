"""`passfuzz report`: shards merge into one report, from files alone."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from reports.merge import read_outs, write_merged
from reports.summary import Report, RunEnd, read_out, write_out
from reports.terminal import Terminal
from reports.view import show
from reports.words import SCREEN, ended_line
from tests.reports.reports_data import facts, finding, known_finding, report, tally


def _shards(tmp_path: Path) -> list[Path]:
    outs = [tmp_path / "one", tmp_path / "two"]
    write_out(outs[0], Report(facts(wall_s=50.0, shard="1/2"), tally(), report(finding("FuseOps")).findings))
    other = replace(facts(wall_s=61.0, shard="2/2"), targets=("llvm", "cuda-cpu"))
    write_out(outs[1], Report(other, tally(), report(finding("FuseOps"), finding("CSE")).findings))
    for out in outs:
        for row in read_out(out).findings:
            (out / row.case).mkdir(parents=True)
            (out / row.repro).write_text(out.name)
    return outs


def test_shards_add_up(tmp_path: Path) -> None:
    merged = read_outs(_shards(tmp_path))
    assert merged.tally.cases == 196
    assert merged.tally.passes["FuseOps"]["changed"] == 30
    assert (merged.facts.wall_s, merged.facts.shard) == (61.0, "1/2, 2/2")
    assert merged.facts.targets == ("llvm", "cuda", "cuda-cpu")
    assert sorted((row.culprit, row.count) for row in merged.findings) == [("CSE", 1), ("FuseOps", 2)]


def test_one_run_is_shown_as_it_is(tmp_path: Path) -> None:
    out = _shards(tmp_path)[1]
    assert read_outs([out]).to_json() == read_out(out).to_json()


def test_a_fault_of_one_shard_is_a_fault_of_all(tmp_path: Path) -> None:
    outs = _shards(tmp_path)
    write_out(outs[0], report(own_fault="the generator is wrong"))
    assert read_outs(outs).facts.own_fault == "the generator is wrong"


def test_a_merge_has_the_files_and_folders_of_all(tmp_path: Path) -> None:
    outs = _shards(tmp_path)
    into = tmp_path / "all"
    merged = write_merged(outs, into)
    assert read_out(into).to_json() == merged.to_json()
    assert sorted(path.name for path in (into / "findings").iterdir()) == sorted(r.signature for r in merged.findings)
    assert len(merged.findings) == 2


def shown(shown_report: Report, width: int = 160) -> str:
    stream = io.StringIO()
    show(shown_report, Terminal(file=stream, width=width))
    return stream.getvalue()


def test_people_see_causes_before_the_run() -> None:
    text = shown(report(finding("FuseOps"), own_fault="x [y]"))
    assert text.startswith(
        "1 new cause (1 finding), 0 known\nofficial pipeline    FuseOps: Var x is not defined findings/"
    )
    assert text.index("FuseOps") < text.index("98 cases")
    assert "not to be trusted: x [y]" in text


def test_people_see_no_counters_of_what_was_skipped() -> None:
    text = shown(report(finding()))
    assert "no reference" not in text and "near-tie" not in text and "LiftTransformParams" not in text


def test_people_see_one_screen_and_whole_paths() -> None:
    many = [finding(f"Pass{number}", "x" * 300, tier="ABC"[number % 3]) for number in range(300)]
    text = shown(report(*many, known_finding("CSE")))
    lines = text.splitlines()
    assert len(lines) <= SCREEN
    scripts = [line for line in lines if line.startswith("official pipeline")]
    assert scripts and all(line.endswith("/repro.py") and len(line) <= 160 for line in scripts)
    assert "1 known: CSE" in lines
    assert (
        "100 new only in odd orders of passes (tier C): Pass101, Pass104, Pass107, Pass11, Pass110, 95 more passes"
        in (lines)
    )


@pytest.mark.parametrize("ended", [None, "unknown", "interrupted"])
def test_people_see_how_the_run_ended(ended: RunEnd | None) -> None:
    stream = io.StringIO()
    shown = replace(report(), facts=replace(facts(), ended=ended))
    show(shown, Terminal(file=stream, width=160))
    assert ended_line(shown.facts) in stream.getvalue()
    assert ended_line(replace(facts(), ended="done")) == ""
