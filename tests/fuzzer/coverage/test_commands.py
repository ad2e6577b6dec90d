"""`passfuzz coverage` and `passfuzz run --coverage` as a user has them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzzer.commands import coverage as command
from fuzzer.coverage.counting import counting
from fuzzer.coverage.ground import Ground, NoCoverage
from fuzzer.coverage.hits import HITS_FILE, read_hits
from fuzzer.settings import Settings
from reports.markdown import render
from reports.reached import Grown, Reached
from reports.summary import read_out, write_out
from tests.fuzzer.coverage import subject
from tests.fuzzer.coverage.test_count import written
from tests.reports.reports_data import report

REACHED = Reached("ab" * 20, {"relax": 1, "all": 2}, {"relax": 4, "all": 40}, (Grown(15.0, {"relax": 1, "all": 1}),))


def test_a_table_of_folders_passes_and_files(passfuzz: Any, tmp_path: Path) -> None:
    written(tmp_path / HITS_FILE, 10, 20, 21)
    status, out, _ = passfuzz("coverage", tmp_path)
    lines = [line.split() for line in out.splitlines()]
    assert status == 0
    assert ["relax", "20", "3", "15.0%", "17"] in lines
    assert ["relax/transform/fuse_ops.cc", "10", "2", "20.0%", "8"] in lines
    assert ["FuseOps", "10", "2", "20.0%", "8"] in lines
    status, out, _ = passfuzz("coverage", tmp_path, "--rows", 1)
    assert "and 3 more: --rows, --json" in out


def test_what_only_one_side_reaches_comes_first(passfuzz: Any, tmp_path: Path) -> None:
    ours, theirs = written(tmp_path / "ours", 10, 11), written(tmp_path / "theirs", 10, 30, 31)
    status, out, _ = passfuzz("coverage", ours, "--against", theirs, "--json")
    said = json.loads(out)
    assert status == 0 and said["compared"]
    assert said["folders"][0] == {"name": "relax", "blocks": 20, "reached": 2, "theirs": 1, "both": 1}
    assert [one["name"] for one in said["files"]][0] == "sym/analyzer.cc"
    status, out, _ = passfuzz("coverage", ours, "--against", theirs)
    assert ["sym", "10", "0", "0.0%", "0", "2", "20.0%"] in [line.split() for line in out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "name the --out folder of a run"),
        (("--of", "true"), "goes with -o FILE"),
        (("--of", "true", "-o", "FILE", "--against", "OUT"), "neither with OUT nor with --against"),
        (("OUT",), "was the run made with --coverage?"),
        (("OUT", "-o", "FILE"), "name the --out folder of a run"),
        (("--of", "'", "-o", "FILE"), "No closing quotation"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], why: str, passfuzz: Any, tmp_path: Path) -> None:
    places = {"OUT": str(tmp_path), "FILE": str(tmp_path / "file")}
    status, out, err = passfuzz("coverage", *(places.get(word, word) for word in arguments))
    assert (status, out) == (2, "")
    assert why in err


@subject.WORKS_HERE
def test_a_command_of_the_users(
    passfuzz: Any, known: Ground, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "ground", lambda tell: known)
    load = f"import ctypes; ctypes.CDLL({str(library)!r}).choose(1); raise SystemExit(5)"
    asked = ("coverage", "-o", tmp_path / "hits", "--of")
    status, _, err = passfuzz(*asked, f'{sys.executable} -c "{load}"')
    assert status == 0
    assert "ended with status 5; reached, of TVM's basic blocks: relax 50.0%, tirx 20.0%, all 33.3%; in " in err
    status, _, err = passfuzz(*asked, f"{sys.executable} -c 1")
    assert status == 3 and "no process of it has loaded libsubject.so" in err
    assert not (tmp_path / "hits").exists()


# --- run ------------------------------------------------------------------------------------------------


def test_where_it_cannot_work_it_is_said_once_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(tell: object) -> Ground:
        raise NoCoverage("no C compiler")

    monkeypatch.setattr("fuzzer.coverage.counting.ground", refuse)
    counted = counting(Settings(seed=1, out=tmp_path, coverage=True))
    assert (counted.probes(), counted.reached(100.0)) == (None, None)
    assert capsys.readouterr().err == "passfuzz: warning: --coverage: no C compiler; the run goes on without\n"
    counting(Settings(seed=1, out=tmp_path, coverage=True, on="dask://somewhere:1"))
    assert "workers on dask are not counted" in capsys.readouterr().err


def test_without_the_option_nothing_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(tell: object) -> Ground:
        raise AssertionError("was looked at")

    monkeypatch.setattr("fuzzer.coverage.counting.ground", never)
    counted = counting(Settings(seed=1, out=tmp_path))
    assert (counted.probes(), counted.reached(100.0)) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_gone_on_with_counts_into_its_file(
    known: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.coverage.counting.ground", lambda tell: known)
    path = tmp_path / HITS_FILE
    first = counting(Settings(seed=1, out=tmp_path, coverage=True)).probes()
    assert first is not None and first.hits == str(path)
    content = path.read_bytes()
    path.write_bytes(content[:-16] + b"\1" + content[-15:])
    again = counting(Settings(seed=1, out=tmp_path, resume=True))
    assert again.probes() == first and read_hits(path).hit.sum() == 1
    written(path, 3)  # of another library
    counting(Settings(seed=1, out=tmp_path, resume=True)).probes()
    assert read_hits(path).hit.sum() == 0


def test_a_summary_holds_what_was_reached(tmp_path: Path) -> None:
    given = report()
    write_out(tmp_path, given)
    assert "coverage" not in json.loads((tmp_path / "summary.json").read_text())
    given = type(given)(_with(given.facts), given.tally, given.findings)
    write_out(tmp_path, given)
    assert read_out(tmp_path).facts.coverage == REACHED
    assert "It reached 5.0% of TVM's basic blocks (relax 25.0%)." in render(given)


def test_the_terminal_and_the_page_show_it(capsys: pytest.CaptureFixture[str]) -> None:
    from reports import html
    from reports.terminal import Terminal
    from reports.view import show

    given = report()
    given = type(given)(_with(given.facts), given.tally, given.findings)
    show(given, Terminal(width=200))
    assert "reached 5.0% of TVM's basic blocks (relax 25.0%)\n" in capsys.readouterr().out
    page = html.render(given)
    assert "basic blocks of TVM reached" in page
    assert '<td>after 15 s</td><td class="n">25.0%</td><td class="n">2.5%</td>' in page
    assert "basic blocks of TVM" not in html.render(report())


def _with(facts: Any) -> Any:
    from dataclasses import replace

    return replace(facts, coverage=REACHED)
