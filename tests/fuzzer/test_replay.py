"""Replaying a corpus: what a script answers against what is recorded, on this TVM and on others."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.registry import KnownCause, add_entries
from corpus.store import ScriptOutcome, StoredCase, write_case
from fuzzer.commands import environments, replay
from fuzzer.commands.replay import expected_on
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.render import show_replay
from fuzzer.results import ReplayResult
from generators.case import Case, ModuleText, PassCall

pytestmark = pytest.mark.warm
VERSION = "0.27.0.post1"


def stored(*expected: tuple[str, ScriptOutcome]) -> StoredCase:
    case = Case(ModuleText("@I.ir_module\nclass Module:\n    x = 1\n"), (PassCall("CSE", "relax.transform.CSE()"),))
    return StoredCase(case, "a title", "well_formed", "ill-formed", "CSE", expected=expected)


def put(corpus: Path, slug: str, script: str, *expected: tuple[str, ScriptOutcome]) -> None:
    """A case whose repro is this script."""
    write_case(corpus / slug, stored(*expected), script, "readme", made_here=True)


@pytest.fixture(autouse=True)
def this_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "tvm_version", lambda: VERSION)
    monkeypatch.setattr(environments, "tvm_version", lambda: VERSION)


@pytest.mark.parametrize(
    ("script", "recorded", "outcome", "status"),
    [
        ("print('Var x is not defined'); exit(1)", "fails", "still-failing", 0),
        ("print('Var x is not defined'); exit(1)", "passes", "regression", 4),
        ("exit(0)", "fails", "fixed", 0),
        ("exit(0)", "passes", "ok", 0),
        ("exit(2)", "passes", "unportable", 0),
        ("import os; os.abort()", "fails", "error", 3),
        ("raise SystemExit(7)", "passes", "error", 3),
    ],
)
def test_outcomes(tmp_path: Path, script: str, recorded: ScriptOutcome, outcome: str, status: int) -> None:
    put(tmp_path, "case", script, ("0.27", recorded))
    result = replay.replay(tmp_path, ())
    (row,) = result.rows
    assert (row.case, row.tvm, row.outcome) == ("case", VERSION, outcome)
    assert result.status() == status
    assert row.message == ("Var x is not defined" if "Var x" in script else "")


def replayed(corpus: Path, known: Path | None, **scripts: str) -> ReplayResult:
    """Cases by name with "cause: script", each of which is recorded to fail."""
    for slug, text in scripts.items():
        cause, _, script = text.partition(": ")
        case = replace(stored(("0.27", "fails")), cause=cause or None, title=f"title of {slug}")
        write_case(corpus / slug, case, script, "readme", made_here=True)
    return replay.replay(corpus, (), known=known)


def test_a_known_cause_that_is_gone_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_entries(tmp_path / "known.toml", [KnownCause("a", "A of the registry"), KnownCause("b", "B", "wont-fix")])
    fails = "print('x'); exit(1)"
    result = replayed(
        tmp_path / "cases",
        tmp_path / "known.toml",
        one="a: exit(0)",
        two="a: exit(0)",
        three="b: exit(0)",
        four=f"b: {fails}",
        five="c: exit(2)",
        six=": exit(0)",
    )
    assert [(gone.tvm, gone.cause, gone.title) for gone in result.gone()] == [
        (VERSION, "a", "A of the registry"),
        (VERSION, "", "title of six"),
    ]
    assert result.status() == 0
    show_replay(result, False)
    shown = capsys.readouterr().out
    assert f"2 known causes are gone on TVM {VERSION}: A of the registry; title of six" in shown
    assert [row["cause"] for row in result.to_json()["rows"]] == ["c", "b", "a", "", "b", "a"]  # by name
    assert [gone["title"] for gone in result.to_json()["gone"]] == ["A of the registry", "title of six"]


@pytest.mark.parametrize(("fixed_in", "outcome", "status"), [("0.27.0", "regression", 4), ("0.28", "still-failing", 0)])
def test_a_fixed_cause_that_fails_is_red(tmp_path: Path, fixed_in: str, outcome: str, status: int) -> None:
    add_entries(tmp_path / "known.toml", [KnownCause("a", "A", "fixed-in", fixed_in=fixed_in)])
    result = replayed(tmp_path / "cases", tmp_path / "known.toml", one="a: print('x'); exit(1)")
    (row,) = result.rows
    assert (row.outcome, result.status(), result.gone()) == (outcome, status, ())
    assert row.message == ("fixed in 0.27.0, and back: x" if status else "x")


@pytest.mark.parametrize("script", ["def (", "import no_such_module_anywhere", "raise RuntimeError('ours')"])
def test_a_script_that_breaks_before_it_judges_is_an_error(tmp_path: Path, script: str) -> None:
    put(tmp_path, "case", script, ("0.27", "fails"))
    (row,) = replay.replay(tmp_path, ()).rows
    assert row.outcome == "error"
    assert "Error" in row.message


def test_a_case_without_its_script_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "case", "exit(0)", ("0.27", "fails"))
    (tmp_path / "case" / "repro.py").unlink()
    (row,) = replay.replay(tmp_path, ()).rows
    assert (row.outcome, row.message) == ("error", f"{tmp_path / 'case' / 'repro.py'}: no such file")


def test_a_corrupt_case_does_not_stop_the_others(tmp_path: Path) -> None:
    put(tmp_path, "good", "exit(0)", ("0.27", "passes"))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "case.json").write_text("{")
    assert [(row.case, row.outcome) for row in replay.replay(tmp_path, ()).rows] == [("bad", "error"), ("good", "ok")]


def test_every_version_gets_every_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "python_with", lambda version: Path(sys.executable))
    put(tmp_path, "case", "exit(1)", ("0.26", "fails"), ("0.27", "passes"))
    rows = replay.replay(tmp_path, ("0.26.0", "0.27.0")).rows
    assert [(row.tvm, row.outcome) for row in rows] == [("0.26.0", "still-failing"), ("0.27.0", "regression")]


def test_a_corpus_without_cases_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case"):
        replay.replay(tmp_path, ())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="not a folder"):
        replay.replay(tmp_path / "file", ())


@pytest.mark.parametrize(
    ("version", "outcome"),
    [("0.27.0.post1", "passes"), ("0.28.0", "passes"), ("0.26.1", "fails"), ("0.100.0", "passes"), ("0.25.0", None)],
)
def test_a_new_version_is_expected_to_do_what_the_last_one_did(version: str, outcome: ScriptOutcome | None) -> None:
    assert expected_on(stored(("0.26", "fails"), ("0.27", "passes")), version) == outcome


def test_the_installed_tvm_needs_no_environment() -> None:
    assert environments.python_with(VERSION) == Path(sys.executable)


def test_known_pairs_are_installed_as_pairs() -> None:
    assert environments.requirements("0.26.0")[:2] == ["apache-tvm==0.26.0", "apache-tvm-ffi==0.1.13.post3"]
    assert environments.requirements("0.99.0")[0] == "apache-tvm==0.99.0"


@pytest.mark.deep
def test_what_pip_cannot_install_is_a_fault_and_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        environments, "requirements", lambda version: ["--no-index", "--find-links", "", "passfuzz-none"]
    )
    for _ in range(2):
        with pytest.raises(EnvironmentFault, match=r"TVM 9\.9 cannot be installed: ERROR"):
            environments.python_with("9.9")
    assert not list(tmp_path.rglob(".ready"))
