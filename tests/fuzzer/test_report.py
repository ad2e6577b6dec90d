"""`passfuzz report` over folders of others: what is wrong is one line, and nothing is written before it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.formats import FORMATS
from reports.summary import write_out
from tests.corruption import SPECIAL, put
from tests.reports.reports_data import finding, report


def test_a_merge_into_a_source_is_refused_and_changes_nothing(passfuzz: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_out(tmp_path / name, report(finding()))
    before = (tmp_path / "one" / "summary.json").read_bytes()
    for _ in range(3):
        status, _, err = passfuzz("report", tmp_path / "one", tmp_path / "two", "--merge", tmp_path / "one")
        assert (status, len(err.splitlines())) == (2, 1)
        assert "give a new one" in err
    assert (tmp_path / "one" / "summary.json").read_bytes() == before


def test_a_merge_removes_the_reports_of_an_earlier_one(passfuzz: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_out(tmp_path / name, report(finding()))
    outs = ("report", tmp_path / "one", tmp_path / "two", "--merge", tmp_path / "all")
    assert passfuzz(*outs, "--html", "--junit")[0] == 0
    assert passfuzz(*outs, "--markdown")[0] == 0
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"summary.json", "findings.jsonl", "report.md"}


def test_a_corrupt_finding_is_a_warning_and_the_report_goes_on(passfuzz: Any, tmp_path: Path) -> None:
    write_out(tmp_path, report(finding()))
    with (tmp_path / "findings.jsonl").open("a") as file:
        file.write("\x1b[31m\n")
    status, stdout, err = passfuzz("report", tmp_path)
    assert status == 0 and "FuseOps" in stdout
    assert err.startswith("passfuzz: warning: ") and "line 2" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("file", ["summary.json", "findings.jsonl"])
@pytest.mark.parametrize(
    "what", [what for what in SPECIAL if what not in ("absent", "empty", "unreadable", "dangling")]
)
def test_what_is_no_file_is_one_line(passfuzz: Any, tmp_path: Path, file: str, what: str) -> None:
    write_out(tmp_path, report(finding()))
    put(tmp_path / file, what)
    status, stdout, err = passfuzz("report", tmp_path)
    assert (status, stdout, len(err.splitlines())) == (2, "", 1)
    assert f"{tmp_path / file}: " in err


NULLS = ["tvm", "passfuzz", "seed", "targets", "wall_s", "shard", "cases", "skipped", "passes", "phases", "findings"]


@pytest.mark.parametrize("field", NULLS)
def test_a_null_is_one_line_that_names_it(passfuzz: Any, tmp_path: Path, field: str) -> None:
    out = tmp_path / "out"
    write_out(out, report(finding()))
    path = out / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: None}))
    for arguments in ((), ("--html",), ("--json",), ("--merge", tmp_path / "all")):
        status, stdout, err = passfuzz("report", out, *arguments)
        assert (status, stdout, len(err.splitlines())) == (2, "", 1)
        assert str(path) in err
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["findings.jsonl", "out", "summary.json"]


@pytest.mark.parametrize("text", ["[/bold]", "[red]x[/red]", "\x1b[31m", "\u202e", "```"])
def test_markup_in_a_summary_is_shown(passfuzz: Any, tmp_path: Path, text: str) -> None:
    odd = report(finding(message=text), own_fault=text)
    write_out(tmp_path, replace(odd, facts=replace(odd.facts, tvm=text, targets=(text,), shard=text)))
    status, stdout, err = passfuzz("report", tmp_path)
    assert (status, err) == (0, "")
    assert text.encode("unicode_escape").decode() in stdout
    for row in FORMATS:
        assert passfuzz("report", tmp_path, f"--{row.name}")[0] == 0


def test_a_report_that_cannot_be_written_is_named(passfuzz: Any, tmp_path: Path) -> None:
    write_out(tmp_path, report(finding()))
    for row in FORMATS:
        (tmp_path / row.file).mkdir()
        status, _, err = passfuzz("report", tmp_path, f"--{row.name}")
        assert status == 3 and f"{tmp_path / row.file}: is a directory" in err
