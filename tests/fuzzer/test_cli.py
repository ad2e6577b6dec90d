"""The command line: options reach their function, results become output and exit statuses, errors are one line."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from corpus.signature_baseline import read_notes, write_known
from fuzzer import errors
from fuzzer.campaign.observer import Observer
from fuzzer.commands.reduce_asked import ReduceOptions
from fuzzer.own_numbers import DRAWN
from fuzzer.results import CampaignResult, CheckResult, CheckRow, ReduceResult, ReplayResult
from fuzzer.settings import Settings
from reports.matrix import Column, ReplayRow
from reports.summary import read_out, write_out
from tests.reports.reports_data import finding, known_finding, report, row, tally

ROOT = Path(__file__).resolve().parents[2]
CALL: Any = "the call that a fake saw"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, Callable[..., Any]], None]:
    """Puts a module with one function in place of one that a command imports."""

    def put(module: str, name: str, function: Callable[..., Any]) -> None:
        importlib.import_module("fuzzer.commands.run")  # The real one is what other tests find afterwards.
        stand_in = ModuleType(module)
        setattr(stand_in, name, function)
        monkeypatch.setitem(sys.modules, module, stand_in)
        monkeypatch.delitem(sys.modules, "fuzzer.commands.run", raising=False)

    return put


def campaign(*findings: Any, **facts: Any) -> Callable[[Settings, Observer], CampaignResult]:
    """A campaign that finds this at once."""

    def run_campaign(settings: Settings, observer: Observer, interrupts: object, plan: object) -> CampaignResult:
        observer.on_start(settings)
        observer.on_tally(tally(), 1.0)
        rows = tuple(map(row, findings))
        for one in rows:
            observer.on_finding(one)
        observer.on_end()
        return CampaignResult(**{"tally": tally(), "findings": rows, "wall_s": 2.0, **facts})

    return run_campaign


# --- run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "facts", "status"),
    [
        ((), {}, 0),
        ((finding(),), {}, 1),
        ((known_finding("FuseOps"),), {}, 0),
        ((finding(),), {"own_fault": "the generator is wrong"}, 3),
    ],
)
def test_run_exit_status(
    passfuzz: Any, fake: Any, tmp_path: Path, found: Any, facts: dict[str, Any], status: int
) -> None:
    fake("fuzzer.campaign.begin", "run_campaign", campaign(*found, **facts))
    ended, _, err = passfuzz("run", "--time", "1s", "--out", tmp_path / "out")
    assert ended == status
    assert ("the generator is wrong" in err) is (status == 3)


def test_run_leaves_every_report_and_says_where(passfuzz: Any, fake: Any, tmp_path: Path) -> None:
    fake("fuzzer.campaign.begin", "run_campaign", campaign(finding()))
    out = tmp_path / "deep" / "out"
    _, stdout, _ = passfuzz("run", "--seed", 12, "--out", out)
    wanted = {"summary.json", "findings.jsonl", "report.md", "report.html", "report.sarif", "junit.xml"}
    assert {path.name for path in out.iterdir()} == wanted
    assert "seed 12" in stdout
    assert stdout.rstrip().endswith(f"\nreports are in {out}")
    assert stdout.count("1 new cause (1 finding), 0 known") == 1
    assert read_out(out).facts.seed == 12


def test_run_json_is_the_summary_and_nothing_else(passfuzz: Any, fake: Any, tmp_path: Path) -> None:
    fake("fuzzer.campaign.begin", "run_campaign", campaign(finding()))
    status, stdout, err = passfuzz("run", "--json", "--out", tmp_path)
    assert status == 1
    assert err.rstrip().endswith(f"1 new cause (1 finding), 0 known; reports are in {tmp_path}")
    assert json.loads(stdout) == json.loads((tmp_path / "summary.json").read_text())


def test_run_hands_on_every_option(passfuzz: Any, fake: Any, tmp_path: Path) -> None:
    seen: list[Settings] = []

    def run_campaign(settings: Settings, observer: Observer, interrupts: object, plan: object) -> CampaignResult:
        seen.append(settings)
        return campaign()(settings, observer, interrupts, plan)

    fake("fuzzer.campaign.begin", "run_campaign", run_campaign)
    (tmp_path / "mine.py").write_text("PASSES = {}")
    (tmp_path / "known.jsonl").write_text("")
    options = ("--time", "10m", "--cases", 9, "--seed", 3, "--jobs", 2, "--target", "cuda", "--target", "llvm")
    more = ("--passes", "Mine,@tir", "--oracles", "purity", "--load", tmp_path / "mine.py", "--corpus", tmp_path)
    rest = (
        "--known",
        tmp_path / "known.jsonl",
        "--fail-on",
        "A",
        "--shard",
        "2/4",
        "--on",
        "dask://h",
        "--out",
        tmp_path,
    )
    status, _, err = passfuzz("run", *options, *more, *rest)
    assert (status, err) == (0, "")
    (settings,) = seen
    assert (settings.time_s, settings.cases, settings.seed, settings.jobs) == (600.0, 9, 3, 2)
    assert (settings.targets, settings.passes, settings.oracles) == (("cuda", "llvm"), ("Mine", "@tir"), ("purity",))
    assert (settings.load, settings.corpus) == (tmp_path / "mine.py", tmp_path)
    assert (settings.known, settings.fail_on) == (tmp_path / "known.jsonl", ("A",))
    assert (settings.shard.index, settings.shard.count, settings.on, settings.out) == (1, 4, "dask://h", tmp_path)


def test_run_without_tvm_says_how_to_get_it(
    passfuzz: Any, fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("fuzzer.campaign.begin", "run_campaign", campaign())
    monkeypatch.setattr("fuzzer.versions.tvm_version", lambda: "missing")
    monkeypatch.setattr("fuzzer.versions.has_tvm", lambda: False)
    status, _, err = passfuzz("run", "--out", tmp_path)
    assert status == 3
    assert err.startswith("passfuzz: error: apache-tvm: not installed; pip install")


# --- check, reduce, replay ------------------------------------------------------------------------------


def test_check_shows_verdicts_and_the_culprit(passfuzz: Any, fake: Any, tmp_path: Path) -> None:
    calls: list[tuple[Any, ...]] = []

    def check_module(*arguments: Any, **options: Any) -> CheckResult:
        calls.append((arguments, options))
        row = CheckRow("well_formed", "FuseOps", "failed", "ill-formed", "Var [x] is not defined")
        return CheckResult((row,), culprit="FuseOps")

    fake("fuzzer.commands.check", "check_module", check_module)
    module = tmp_path / "module.py"
    module.write_text("")
    status, stdout, _ = passfuzz("check", module, "--passes", "FuseOps,DeadCodeElimination", "--target", "cuda")
    assert status == 1
    asked = (module, ("FuseOps", "DeadCodeElimination"), "cuda", None)
    assert calls == [(asked, {"explain": False, "trust": False, "own": DRAWN})]
    assert "ill-formed: Var [x] is not defined" in stdout
    assert stdout.splitlines()[-1] == "culprit: FuseOps"
    status, stdout, _ = passfuzz("check", module, "--json")
    data = json.loads(stdout)
    assert (status, data["culprit"], data["failed"], data["rows"][0]["verdict"]) == (1, "FuseOps", True, "failed")


def test_reduce_writes_the_script(passfuzz: Any, fake: Any, tmp_path: Path) -> None:
    calls: list[Any] = []

    def reduce_case(path: Path, options: ReduceOptions, display: object) -> ReduceResult:
        assert display is not None
        calls.append((path, options))
        sizes = {"bindings_before": 9, "bindings": 2, "statements_before": 0, "statements": 0}
        reduced = {**sizes, "passes_before": 3, "passes": 1, "oracle_calls": 14, "seconds": 2.15}
        return ReduceResult("print(1)\n", reduced, "well_formed-FuseOps-1", "{}")

    fake("fuzzer.commands.reduce", "reduce_case", reduce_case)
    output = tmp_path / "small.py"
    status, stdout, _ = passfuzz("reduce", tmp_path, "--interesting", "./check.sh", "--time", "2m", "-o", output)
    assert status == 0
    assert f"wrote {output}" in stdout
    assert "9 bindings -> 2, 0 statements -> 0, 3 passes -> 1, 14 trials, 2.1 s" in stdout
    options = ReduceOptions(interesting="./check.sh", time_s=120.0, output=output)
    assert calls == [(tmp_path, options)]


def test_replay_reports_a_regression(passfuzz: Any, fake: Any, tmp_path: Path) -> None:
    rows = (
        ReplayRow("tvm-17340", "0.27.0", "fails as known"),
        ReplayRow("tvm-20277", "0.27.0", "regressed", "fails again"),
        ReplayRow("tvm-20201", "0.26.0", "unportable", "script does not parse"),
    )
    columns = (Column("0.27.0"), Column("0.26.0"), Column("9.9", fault="there is no 9.9"))
    fake("fuzzer.commands.replay", "replay", lambda *_, **__: ReplayResult(rows, columns))
    junit = tmp_path / "junit.xml"
    status, stdout, _ = passfuzz("replay", tmp_path, "--tvm", "0.27.0", "--tvm", "0.26.0", "--junit", junit)
    assert status == 4
    assert "regressed" in stdout
    cases = {case.attrib["name"]: case for case in ElementTree.parse(junit).iter("testcase")}
    assert [name for name, case in cases.items() if case.find("failure") is not None] == ["tvm-20277"]
    assert cases["tvm-20201"].find("skipped") is not None
    assert [name for name, case in cases.items() if case.find("error") is not None] == ["this TVM"]
    suites = {suite.attrib["name"]: suite.attrib for suite in ElementTree.parse(junit).iter("testsuite")}
    assert suites["replay on TVM 9.9"]["errors"] == "1"
    assert suites["replay on TVM 0.27.0"]["failures"] == "1"


# --- report, list ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "file", "start"),
    [
        ("--markdown", "report.md", "# passfuzz"),
        ("--html", "report.html", "<!doctype html>"),
        ("--junit", "junit.xml", "<?xml"),
        ("--sarif", "report.sarif", "{"),
    ],
)
def test_report_prints_one_format_and_keeps_it(
    passfuzz: Any, tmp_path: Path, option: str, file: str, start: str
) -> None:
    write_out(tmp_path, report(finding()))
    status, stdout, _ = passfuzz("report", tmp_path, option)
    assert status == 0
    assert stdout.startswith(start)
    assert (tmp_path / file).read_text() == stdout


def test_report_of_several_formats_prints_where_they_are(passfuzz: Any, tmp_path: Path) -> None:
    write_out(tmp_path, report())
    _, stdout, _ = passfuzz("report", tmp_path, "--junit", "--sarif")
    assert stdout.splitlines() == [str(tmp_path / "junit.xml"), str(tmp_path / "report.sarif")]


def test_report_adds_findings_to_a_baseline_and_keeps_its_notes(passfuzz: Any, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    write_out(tmp_path, report(finding(), finding("CSE")))
    status, stdout, _ = passfuzz("report", tmp_path, "--update", known)
    assert (status, stdout) == (0, f"{known}: 2 of 2 findings added, 2 known\n")
    first, second = read_notes(known)
    write_known(known, {first: "apache/tvm#1"})
    assert passfuzz("report", tmp_path, "--update", known)[1] == f"{known}: 1 of 2 findings added, 2 known\n"
    notes = read_notes(known)
    assert notes[first] == "apache/tvm#1"
    culprit = "FuseOps" if "FuseOps" in second else "CSE"
    assert notes[second] == f"{culprit}: ill-formed: Var x is not defined"


def test_report_does_not_touch_what_is_no_baseline(passfuzz: Any, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    known.write_text("not JSON")
    write_out(tmp_path, report(finding()))
    status, _, err = passfuzz("report", tmp_path, "--update", known)
    assert status == 2
    assert "--update" in err
    assert known.read_text() == "not JSON"


def test_report_merges_shards(passfuzz: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_out(tmp_path / name, report(finding()))
    _, stdout, _ = passfuzz("report", tmp_path / "one", tmp_path / "two", "--merge", tmp_path / "all", "--json")
    assert json.loads(stdout)["cases"] == 196
    assert read_out(tmp_path / "all").tally.cases == 196


def test_report_of_another_folder_is_wrong_usage(passfuzz: Any, tmp_path: Path) -> None:
    status, _, err = passfuzz("report", tmp_path)
    assert status == 2
    assert "summary.json" in err


@pytest.mark.parametrize("table", ["passes", "oracles", "targets"])
def test_list(passfuzz: Any, table: str) -> None:
    status, stdout, _ = passfuzz("list", table, "--json")
    assert status == 0
    names = [row["name"] for row in json.loads(stdout)[table]]
    assert len(names) == len(set(names)) > 1
    assert ("build" in names) == (table == "oracles")


# --- errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--time", "soon"),
        ("run", "--cases", "many"),
        ("run", "--bogus"),
        ("run", "--passes", "FuseOp"),
        ("check", "README.md", "--passes", "FuseOp"),
        ("reduce", "README.md", "--passes", "FuseOp"),
        ("bogus",),
        ("check",),
        ("check", "no-such-module.py"),
        ("reduce", "no-such-case"),
        ("replay", "no-such-corpus"),
        ("report", "no-such-out"),
        ("list", "everything"),
        ("run", "--oracles", "nope"),
        ("reduce", "README.md", "--oracle", "nope"),
        ("run", "--jobs", "100000"),
        ("replay", "--junit", "/dev/null"),
        ("reduce", "README.md", "-o", "/dev/null"),
        ("report", "no-such-out", "--update", "."),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(passfuzz: Any, fake: Any, arguments: tuple[str, ...]) -> None:
    for module, name in (("check", "check_module"), ("reduce_command", "reduce_case"), ("replay", "replay")):
        fake(f"fuzzer.{module}", name, lambda *_, **__: pytest.fail("called in spite of wrong usage"))
    status, stdout, err = passfuzz(*arguments)
    assert (status, stdout) == (2, "")
    assert err.startswith("passfuzz: error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (errors.UsageError("two\nlines"), 2, "passfuzz: error: two lines\n"),
        (errors.EnvironmentFault("no TVM"), 3, "passfuzz: error: no TVM\n"),
        (
            OSError(28, "No space left on device", "out/x"),
            3,
            "passfuzz: error: out/x: no space left on device\n",
        ),
        (KeyError("x"), 3, "passfuzz: internal error: KeyError: 'x' (set PASSFUZZ_DEBUG=1 for the traceback)\n"),
        (OSError("odd"), 3, "passfuzz: error: odd\n"),
        (KeyboardInterrupt(), 130, "passfuzz: interrupted\n"),
        (KeyboardInterrupt("nothing was written"), 130, "passfuzz: interrupted: nothing was written\n"),
        (SystemExit("a reason"), 3, "passfuzz: error: a reason\n"),
    ],
)
def test_every_error_is_one_line(
    error: BaseException, status: int, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(errors.DEBUG_VARIABLE, raising=False)

    def command() -> int:
        raise error

    assert errors.status_of_command(command) == status
    assert capsys.readouterr().err == line


def test_debugging_shows_the_traceback_and_keeps_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(errors.DEBUG_VARIABLE, "1")
    assert errors.status_of_command(lambda: {"a": 1}["x"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.splitlines()[-1].startswith("passfuzz: internal error: KeyError: 'x'")


def test_help_names_every_command(passfuzz: Any) -> None:
    status, stdout, _ = passfuzz()
    assert status == 0
    for command in ("run", "check", "reduce", "replay", "report", "list", "doctor"):
        assert f" {command} " in stdout
        assert "--json" in passfuzz(command, "--help")[1]


def test_a_misspelt_pass_gets_a_hint(passfuzz: Any) -> None:
    assert passfuzz("run", "--passes", "FuseOp")[2].endswith("--passes FuseOp: unknown pass; did you mean FuseOps?\n")


def test_version(passfuzz: Any) -> None:
    status, stdout, _ = passfuzz("--version")
    assert status == 0
    assert stdout.startswith("passfuzz ")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom fuzzer.cli import main\n"
        "try:\n    main(['run', '--help'])\nexcept SystemExit:\n"
        "    print(sorted({'tvm', 'numpy', 'hypothesis', 'pytest'} & set(sys.modules)), file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert ended.stderr == "[]\n"


def test_a_reader_that_goes_away_is_no_finding() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "fuzzer.cli", "list", "targets"]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, "")
