"""Replaying a corpus: what a script answers against what is recorded, on this TVM and on others."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.case_record import ScriptOutcome
from corpus.promotion import copy_case
from corpus.rate import ReproRate
from corpus.registry import KnownCause, Registry, add_entries
from corpus.replayable import CORPUS, Replayable
from corpus.scripts.setting import ScriptSetting
from corpus.store import StoredCase, write_case
from fuzzer.commands import replay
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.render import show_replay
from fuzzer.replaying import environments
from fuzzer.replaying.by_reference import judged
from fuzzer.replaying.case import FIXED_AFTER, Replayer
from fuzzer.replaying.comparison import expected_on, outcome_of
from fuzzer.results import CheckRow, ReplayResult
from fuzzer.versions import tvm_version
from generators.case import Case, ModuleText, PassCall
from oracles.evidence import Died
from oracles.verdict import CRASH
from reports.matrix import ReplayRow

pytestmark = pytest.mark.warm
VERSION = tvm_version()
HERE = ".".join(VERSION.split(".")[:2])
"""The release of which the installed TVM is one."""


def stored(*expected: tuple[str, ScriptOutcome]) -> StoredCase:
    case = Case(ModuleText("@I.ir_module\nclass Module:\n    x = 1\n"), (PassCall("CSE", "relax.transform.CSE()"),))
    return StoredCase(case, "a title", "well_formed", "ill-formed", "CSE", expected=expected)


def put(corpus: Path, slug: str, script: str, *expected: tuple[str, ScriptOutcome]) -> None:
    """A case whose repro is this script."""
    write_case(corpus / slug, stored(*expected), script, "readme", made_here=True)


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


SAYS = "print('Var x is not defined'); exit(1)"


@pytest.mark.parametrize(
    ("script", "recorded", "outcome", "status"),
    [
        (SAYS, "fails", "fails as known", 0),
        (SAYS, "passes", "regressed", 4),
        ("print('killed by signal 11'); exit(1)", "fails", "changed", 0),
        ("exit(0)", "fails", "fixed", 0),
        ("exit(0)", "passes", "passes", 0),
        ("print('this needs a GPU'); exit(2)", "passes", "unportable", 0),
        ("import os; os.kill(os.getpid(), 9)", "fails", "error", 3),
        ("raise SystemExit(7)", "passes", "error", 3),
    ],
)
def test_outcomes(tmp_path: Path, script: str, recorded: ScriptOutcome, outcome: str, status: int) -> None:
    put(tmp_path, "case", script, (HERE, recorded))
    result = replay.replay(tmp_path, ())
    (row,) = result.rows
    assert (row.case, row.tvm, row.outcome) == ("case", VERSION, outcome)
    assert result.status() == status
    if "Var x" in script:
        assert row.message == "Var x is not defined"


NOW_AND_THEN = """\
import os
runs = open({file!r}, "a+")
number = runs.seek(0, 2)
runs.write("x")
runs.flush()
print("killed by signal 11")
raise SystemExit(number == {at})
"""
"""Shows its bug in one of its runs."""


@pytest.mark.parametrize(
    ("rate", "at", "outcome", "runs"),
    [
        *((ReproRate(4, 5), 2, "fails as known", 3), (ReproRate(4, 5), 9, "fixed", 4)),
        *((None, FIXED_AFTER, "fails as known", FIXED_AFTER + 1), (None, 9, "fixed", FIXED_AFTER + 1)),
    ],
)
def test_a_bug_that_depends_on_chance_is_gone_only_when_its_runs_say_so(
    tmp_path: Path, rate: ReproRate | None, at: int, outcome: str, runs: int
) -> None:
    """Four runs of five show it, so that three fresh ones show it almost for sure. The first of all is a fork. Where no
    rate is known, several fresh ones say so."""
    file = tmp_path / "runs"
    case = replace(stored((HERE, "fails")), symptom=CRASH, evidence=Died("SIGSEGV"), rate=rate)
    script = NOW_AND_THEN.format(file=str(file), at=at)
    write_case(tmp_path / "cases" / "case", case, script, "readme", made_here=True)
    (row,) = replay.replay(tmp_path / "cases", (), trust=True).rows
    assert (row.outcome, len(file.read_text())) == (outcome, runs)
    assert ("in none of 3 runs" in row.message) is (rate is not None and outcome == "fixed")


NUMERIC = CheckRow("numeric", "CSE", "failed", "wrong result", "output 0 is 77")
OTHER = CheckRow("survives", "CSE", "failed", "crash", "died")


@pytest.mark.parametrize(
    ("rows", "recorded", "outcome"),
    [
        ((NUMERIC,), "fails", "fails as known"),
        ((OTHER, NUMERIC), "fails", "fails as known"),
        ((NUMERIC,), "passes", "regressed"),
        ((OTHER,), "fails", "changed"),
        ((replace(NUMERIC, symptom="reference trap: data-race"),), "fails", "changed"),
        ((replace(NUMERIC, verdict="passed"),), "fails", "fixed"),
        ((replace(NUMERIC, verdict="skipped"),), "fails", "unportable"),
        ((), "fails", "unportable"),
    ],
)
def test_what_the_reference_alone_shows_is_replayed_by_it(
    rows: tuple[CheckRow, ...], recorded: ScriptOutcome, outcome: str
) -> None:
    case = replace(
        stored((HERE, recorded)), oracle="numeric", symptom="wrong result", setting=ScriptSetting(by_reference=True)
    )
    assert outcome_of(case, judged(case, rows), recorded, Registry()) == outcome


def test_a_case_for_a_device_is_replayed_without_one(tmp_path: Path) -> None:
    slug = "lower-cross-thread-reduction-predicate-of-one-clause"
    copy_case(CORPUS / slug, tmp_path / "cases" / slug)
    (row,) = replay.replay(tmp_path / "cases", (), trust=True).rows
    assert (row.outcome, row.expected) == ("fails as known", "fails")


def replayed(corpus: Path, known: Path | None, **scripts: str) -> ReplayResult:
    """Cases by name with "cause: script", each of which is recorded to fail."""
    for slug, text in scripts.items():
        cause, _, script = text.partition(": ")
        case = replace(stored((HERE, "fails")), cause=cause or None, title=f"title of {slug}")
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


@pytest.mark.parametrize(
    ("fixed_in", "outcome", "status"), [(f"{HERE}.0", "regressed", 4), ("99.0", "fails as known", 0)]
)
def test_a_fixed_cause_that_fails_is_red(tmp_path: Path, fixed_in: str, outcome: str, status: int) -> None:
    add_entries(tmp_path / "known.toml", [KnownCause("a", "A", "fixed-in", fixed_in=fixed_in)])
    result = replayed(tmp_path / "cases", tmp_path / "known.toml", one="a: print('x'); exit(1)")
    (row,) = result.rows
    assert (row.outcome, result.status(), result.gone()) == (outcome, status, ())
    assert row.message == (f"fixed in {HERE}.0, and back: x" if status else "x")


@pytest.mark.parametrize("script", ["def (", "import no_such_module_anywhere", "raise RuntimeError('ours')"])
def test_a_script_that_breaks_before_it_judges_is_an_error(tmp_path: Path, script: str) -> None:
    put(tmp_path, "case", script, (HERE, "fails"))
    (row,) = replay.replay(tmp_path, ()).rows
    assert row.outcome == "error"
    assert "Error" in row.message


@pytest.mark.parametrize("load", ["/home/me/mine.py", "mine.py"])
def test_a_script_is_told_where_the_file_is_that_it_may_need(tmp_path: Path, load: str) -> None:
    """A relative path is one from the folder of the case, and the same holds of a fresh process."""
    script = "import os; print(os.environ['PASSFUZZ_LOADED'], 'exists'); exit(1)"
    case = stored((HERE, "fails"))
    write_case(tmp_path / "case", replace(case, case=replace(case.case, load=load)), script, "readme", made_here=True)
    (row,) = replay.replay(tmp_path, ()).rows
    said = row.message
    regressed = replace(case, case=replace(case.case, load=load), expected=((HERE, "passes"),))
    write_case(tmp_path / "case", regressed, script, "readme", made_here=True)
    (row,) = replay.replay(tmp_path, ()).rows
    assert (said, row.message) == (f"{(tmp_path / 'case' / load).parent} exists",) * 2


def test_a_case_without_its_script_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "case", "exit(0)", (HERE, "fails"))
    (tmp_path / "case" / "repro.py").unlink()
    (row,) = replay.replay(tmp_path, ()).rows
    assert (row.outcome, row.message) == ("error", f"{tmp_path / 'case' / 'repro.py'}: no such file")


def test_a_corrupt_case_does_not_stop_the_others(tmp_path: Path) -> None:
    put(tmp_path, "good", "exit(0)", (HERE, "passes"))
    (tmp_path / "bad").mkdir()
    path = tmp_path / "bad" / "case.json"
    os.mkfifo(path)
    assert [(row.case, row.outcome, row.message) for row in replay.replay(tmp_path, ()).rows] == [
        ("bad", "error", f"{path}: not a regular file"),
        ("good", "passes", ""),
    ]


def fake_build(folder: Path, version: str, text: str = "") -> Path:
    """A tree of TVM, as a source checkout has it, of which the package says a version and nothing else."""
    (folder / "python/tvm/relax").mkdir(parents=True)
    (folder / "python/tvm/__init__.py").write_text(f"__version__ = {version!r}\n{text}")
    (folder / "python/tvm/relax/__init__.py").write_text("")
    (folder / "build/lib").mkdir(parents=True)
    (folder / "build/lib/libtvm_compiler.so").write_text("")
    return folder


def test_a_build_of_ones_own_can_regress(tmp_path: Path) -> None:
    """Its version is that of the package, whatever is installed here; nothing is recorded for it."""
    put(tmp_path / "corpus", "case", SAYS, ("0.26", "fails"), ("0.27", "passes"))
    builds = [str(fake_build(tmp_path / name, f"0.{name}")) for name in ("28.dev0", "27.dev0", "26.1", "25.0")]
    result = replay.replay(tmp_path / "corpus", builds)
    found = [(row.tvm.split()[0], row.expected, row.outcome) for row in result.rows]
    assert found == [
        ("0.28.dev0", "passes", "regressed"),
        ("0.27.dev0", "fails", "fails as known"),
        ("0.26.1", "fails", "fails as known"),
        ("0.25.0", "", "fails as known"),
    ]
    assert [column.version for column in result.columns] == ["0.28.dev0", "0.27.dev0", "0.26.1", "0.25.0"]
    assert result.status() == 4


def test_the_folder_of_a_build_stands_for_its_tree(tmp_path: Path) -> None:
    put(tmp_path / "corpus", "case", SAYS, ("0.27", "fails"))
    tree = fake_build(tmp_path / "tree", "0.28.dev0")
    assert [row.tvm.split()[0] for row in replay.replay(tmp_path / "corpus", (str(tree / "build"),)).rows] == [
        "0.28.dev0"
    ]


def test_a_tvm_that_cannot_be_had_ends_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "corpus", "case", SAYS, ("0.27", "fails"))
    monkeypatch.setattr(environments, "requirements", lambda _: ["--no-index", "--find-links", "", "passfuzz-none"])
    (tmp_path / "empty").mkdir()
    bare = fake_build(tmp_path / "bare", "0.28")
    (bare / "build/lib/libtvm_compiler.so").unlink()
    raises = fake_build(tmp_path / "raises", "0.28", "raise ImportError('libtvm.so is gone')")
    dies = fake_build(tmp_path / "dies", "0.28", "import os; os.abort()")
    lacks = [str(tmp_path / "empty"), str(bare), str(raises), str(dies)]
    good = str(fake_build(tmp_path / "good", "0.27.0"))
    result = replay.replay(tmp_path / "corpus", (*lacks, good))
    assert [(row.tvm.split()[0], row.outcome) for row in result.rows] == [("0.27.0", "fails as known")]
    assert result.status() == 3
    faults = [column.fault for column in result.columns]
    for fault, words in zip(
        faults,
        ("no Python package tvm", "no library of TVM", "libtvm.so is gone", "killed by SIGABRT", ""),
        strict=True,
    ):
        assert words in fault
        assert bool(words) == bool(fault)


@pytest.mark.parametrize(
    "given", ["../0.27.0", "no/such/folder", "0.27.0/..", "latest", "", "0.27.0; rm -rf x", "\u0660.1"]
)
def test_what_is_no_tvm_is_wrong_usage(tmp_path: Path, given: str) -> None:
    put(tmp_path / "corpus", "case", SAYS, ("0.27", "fails"))
    if given:
        with pytest.raises(UsageError, match="--tvm"):
            replay.replay(tmp_path / "corpus", ("0.27.0.post1", given))
    file = tmp_path / "file.txt"
    file.write_text("no interpreter")
    with pytest.raises(UsageError, match="no Python interpreter"):
        replay.replay(tmp_path / "corpus", (str(file),))


def test_a_program_that_is_no_python_has_a_column_that_says_so(tmp_path: Path) -> None:
    put(tmp_path / "corpus", "case", SAYS, ("0.27", "fails"))
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    (column,) = replay.replay(tmp_path / "corpus", (str(program),)).columns
    assert "cannot be imported" in column.fault


def test_an_interpreter_runs_the_tvm_that_it_imports(tmp_path: Path) -> None:
    put(tmp_path, "case", SAYS, (HERE, "fails"))
    result = replay.replay(tmp_path, (sys.executable,))
    assert [(column.version, column.label) for column in result.columns] == [(VERSION, f"{VERSION} ({sys.executable})")]
    assert [row.outcome for row in result.rows] == ["fails as known"]


def test_what_was_done_before_an_interrupt_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = tmp_path / "count"
    counts = f"open({str(count)!r}, 'a').write('x'); {SAYS}"
    for slug in ("a", "b", "c"):
        put(tmp_path / "corpus", slug, counts, ("0.27", "fails"))
    build = str(fake_build(tmp_path / "build", "0.27.0"))
    run = Replayer.row

    def interrupted(self: Replayer, found: Replayable) -> ReplayRow:
        if found.slug == "c":
            raise KeyboardInterrupt
        return run(self, found)

    monkeypatch.setattr(Replayer, "row", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replay.replay(tmp_path / "corpus", (build,), trust=True, jobs=1)
    monkeypatch.setattr(Replayer, "row", run)
    done = len(count.read_text())
    put(tmp_path / "corpus", "a", f"{counts}  # changed", ("0.27", "fails"))
    result = replay.replay(tmp_path / "corpus", (build,), trust=True, resume=True)
    assert [row.outcome for row in result.rows] == ["fails as known"] * 3
    assert (done, len(count.read_text())) == (2, 4)  # the changed case, and the one that was not run
    replay.replay(tmp_path / "corpus", (build,), trust=True, resume=True)
    assert len(count.read_text()) == 7  # a replay that has ended leaves nothing to go on with


def test_a_corpus_without_cases_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case"):
        replay.replay(tmp_path, ())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="not a folder"):
        replay.replay(tmp_path / "file", ())


@pytest.mark.parametrize(
    ("version", "outcome"),
    [
        ("0.27.0.post1", "passes"),
        ("0.28.0", "passes"),
        ("0.28.dev0", "passes"),
        ("0.28.0rc1", "passes"),
        ("0.27.0rc1", "fails"),
        ("0.26.1", "fails"),
        ("0.100.0", "passes"),
        ("0.25.0", ""),
        ("unknown", ""),
    ],
)
def test_a_new_version_is_expected_to_do_what_the_last_one_did(version: str, outcome: str) -> None:
    assert expected_on(stored(("0.26", "fails"), ("0.27", "passes")), version) == outcome


def test_the_installed_tvm_needs_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)  # which may hold another TVM
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
