"""`passfuzz triage`, `report --known` and `list causes`: decisions become entries and cases, and stay."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from corpus.agreement import lacks
from corpus.registry import KnownCause, add_entries, cause_id, read_registry
from corpus.replayable import CORPUS
from corpus.store import read_case
from fuzzer.commands import triage_walk
from fuzzer.commands.triage import Triage, open_triage
from reports.finding_row import row_of
from reports.summary import Report, write_out
from reports.terminal import Terminal
from tests.corpus.stored_cases import found
from tests.fuzzer.triage_data import FINDINGS, TODAY, A, B, left_by_a_run, titles
from tests.patience import HANGS_S
from tests.reports.reports_data import NASTY, facts, tally

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return left_by_a_run(tmp_path / "out", *FINDINGS)


@pytest.fixture
def known(tmp_path: Path) -> Path:
    return tmp_path / "mine" / "known.toml"


# --- report --known -------------------------------------------------------------------------------------


def test_a_report_adds_the_causes_of_a_run_with_their_cases(passfuzz: Any, out: Path, known: Path) -> None:
    add_entries(known, [KnownCause("b", "By hand", seen="2026-01-01", versions=("0.26.0",), tier="C")])
    status, stdout, _ = passfuzz("report", out, "--update", known)
    assert (status, stdout) == (0, f"{known}: 1 cause added, 1 seen again, 2 known\n")
    b, a = read_registry(known).entries
    assert (a.cause, a.tier, a.status) == ("a", "A", "open")
    assert read_case(known.parent / "cases" / a.case).cause == "a"
    assert (b.title, b.seen, b.versions, b.tier) == ("By hand", date.today().isoformat(), ("0.26.0", "0.27.0"), "A")
    assert passfuzz("report", out, "--update", known)[1] == f"{known}: 0 causes added, 2 seen again, 2 known\n"


def test_several_runs_are_read_as_one(passfuzz: Any, tmp_path: Path, out: Path, known: Path) -> None:
    more = left_by_a_run(tmp_path / "more", found("c", "Gradient"))
    assert passfuzz("report", out, more, "--update", known)[1] == f"{known}: 3 causes added, 0 seen again, 3 known\n"
    assert lacks(read_registry(known), known.parent / "cases") == ()


def test_a_run_whose_folders_are_gone_gives_entries_without_cases(passfuzz: Any, out: Path, known: Path) -> None:
    shutil.rmtree(out / "findings")
    passfuzz("report", out, "--update", known)
    assert [(entry.cause, entry.case, entry.versions) for entry in read_registry(known).entries] == [
        ("a", "", ("0.27.0",)),
        ("b", "", ("0.27.0",)),
    ]


def test_findings_of_an_older_version_are_left_out_and_counted(passfuzz: Any, tmp_path: Path, known: Path) -> None:
    old = left_by_a_run(tmp_path / "old", found(None), found("a", "CSE"))
    _, stdout, _ = passfuzz("report", old, "--update", known)
    assert stdout.startswith(f"{known}: 1 cause added, 0 seen again, 1 known; left out: 1 finding of an older")


def test_report_reads_a_registry_and_leaves_it_as_it_is(passfuzz: Any, out: Path, known: Path) -> None:
    passfuzz("report", out, "--update", known)
    before = known.read_bytes()
    told = json.loads(passfuzz("report", out, "--known", known, "--json")[1])
    assert {row["standing"] for row in told["findings"]} == {"known"}
    told = json.loads(passfuzz("report", out, "--known", "none", "--json")[1])
    assert {row["standing"] for row in told["findings"]} == {"new"}
    assert known.read_bytes() == before


def test_triage_tells_the_causes_without_a_registry(passfuzz: Any, out: Path) -> None:
    status, stdout, _ = passfuzz("triage", out, "--json", "--known", "none")
    told = json.loads(stdout)
    assert (status, told["registry"]) == (0, None)
    assert {cause["standing"] for cause in told["causes"]} == {"new"}


def test_a_bad_registry_is_not_touched(passfuzz: Any, out: Path, known: Path) -> None:
    known.parent.mkdir()
    known.write_text("schema = 1\n\n[[cause]]\ntitle = 3\n")
    for command in (("report", out), ("triage", out, "--json"), ("promote", out / FINDINGS[0].folder)):
        status, _, err = passfuzz(*command, "--known", known)
        assert status == 2
        assert f"--known {known}, line 4: title: a text is wanted, and this is 3" in err
    assert known.read_text().endswith("title = 3\n")


# --- triage by options ----------------------------------------------------------------------------------


def test_triage_lists_causes(passfuzz: Any, out: Path, known: Path) -> None:
    add_entries(known, [KnownCause("b", "By hand")])
    status, stdout, _ = passfuzz("triage", out, "--json", "--known", known)
    assert status == 0
    data = json.loads(stdout)
    assert [(one["id"], one["standing"], one["tier"], len(one["findings"])) for one in data["causes"]] == [
        (A, "new", "A", 2),
        (B, "known", "A", 1),
    ]
    assert data["causes"][1]["title"] == "By hand"
    assert Path(data["causes"][0]["folder"]).is_dir()
    assert (data["registry"], data["done"]) == (str(known), [])


def test_a_registry_that_is_only_read_must_be_there(passfuzz: Any, out: Path, known: Path) -> None:
    """As for `run`: a name that is misspelt showed all causes as new. Where a decision makes it, that is said."""
    status, stdout, err = passfuzz("triage", out, "--json", "--known", known)
    assert (status, stdout, err) == (2, "", f"passfuzz: error: --known {known}: no such file\n")
    assert f"decisions go to {known}, which is not there yet\n" in walked(open_triage(out, known, TODAY), "q")[0]
    assert not known.exists()


def test_options_decide_as_a_person_would(passfuzz: Any, out: Path, known: Path) -> None:
    status, stdout, err = passfuzz("triage", out, "--known", known, "--promote", A, "--merge", f"{B}={A}")
    assert (status, err) == (0, f"passfuzz: --known {known}: was not there and is made\n")
    (entry,) = read_registry(known).entries
    assert (entry.cause, entry.also, entry.tier) == ("a", ("b",), "A")
    assert stdout.splitlines() == [
        f"{A}: {known.parent / 'cases' / entry.case}: {entry.title}",
        f"{B}: one with {A}: {entry.title}",
    ]
    passfuzz("triage", out, "--known", known, "--mark", f"{B}=fixed-in:0.28.0", "--note", "apache/tvm#1")
    (entry,) = read_registry(known).entries
    assert (entry.status, entry.fixed_in, entry.note) == ("fixed-in", "0.28.0", "apache/tvm#1")
    passfuzz("triage", out, "--known", known, "--mark", f"{A}=open")
    assert (read_registry(known).entries[0].status, read_registry(known).entries[0].fixed_in) == ("open", "")


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ("Mine", "Other", ("Mine", "Other")),
        ("Mine", "Mine", ("Mine",)),
        ("Mine", "", ("Mine",)),
        ("", "Other", ("Other",)),
        ("", "", ()),
        (None, "Other", None),
        ("Mine", None, None),
    ],
)
def test_an_entry_says_whom_its_causes_blame(
    passfuzz: Any, tmp_path: Path, known: Path, first: str | None, second: str | None, merged: tuple[str, ...] | None
) -> None:
    """A finding of an older version does not say it."""
    findings = [found("a", "FuseOps", at_s=1.0), found("b", "CSE", at_s=2.0)]
    out = left_by_a_run(tmp_path / "out", *findings)
    rows = [replace(row_of(one), blames=blamed) for one, blamed in zip(findings, (first, second), strict=True)]
    write_out(out, Report(facts(), tally(), tuple(rows)))
    passfuzz("triage", out, "--known", known, "--mark", f"{A}=wont-fix")
    (entry,) = read_registry(known).entries
    assert entry.blames == (None if first is None else tuple(filter(None, (first,))))
    passfuzz("triage", out, "--known", known, "--merge", f"{B}={A}")
    (entry,) = read_registry(known).entries
    assert (entry.also, entry.blames) == (("b",), merged)


def test_a_promoted_case_says_whom_its_cause_blames(passfuzz: Any, tmp_path: Path, known: Path) -> None:
    out = left_by_a_run(tmp_path / "out", replace(found("in other words"), blames="Mine"))
    passfuzz("triage", out, "--known", known, "--promote", "all")
    (entry,) = read_registry(known).entries
    assert entry.blames == ("Mine",) and entry.names("Mine")
    assert read_case(known.parent / "cases" / entry.case).blames == "Mine"


def test_a_cause_with_an_entry_is_not_merged(passfuzz: Any, out: Path, known: Path) -> None:
    passfuzz("triage", out, "--known", known, "--promote", "all")
    before = known.read_text()
    for one, other in ((A, B), (A, A)):
        status, _, err = passfuzz("triage", out, "--known", known, "--merge", f"{one}={other}")
        assert status == 2
        assert f"{A}: has an entry of its own: {known}, line 4" in err
    assert known.read_text() == before


def test_marks_of_new_causes(passfuzz: Any, out: Path, known: Path) -> None:
    quote = "a sentence that states the limit"
    passfuzz("triage", out, "--known", known, "--mark", f"{A}=limitation", "--quote", quote, "--note", "stated")
    passfuzz("triage", out, "--known", known, "--mark", f"{B}=open")
    first, second = read_registry(known).entries
    assert (first.status, first.quote, first.note, first.case) == ("limitation", quote, "stated", "")
    assert second.status == "open" and (known.parent / "cases" / second.case).is_dir()


def test_all_new_causes_are_promoted_and_known_ones_are_not(passfuzz: Any, out: Path, known: Path) -> None:
    add_entries(known, [KnownCause("b", "By hand", "wont-fix")])
    passfuzz("triage", out, "--known", known, "--promote", "all")
    assert titles(known) == {"b": "wont-fix", "a": "open"}
    assert lacks(read_registry(known), known.parent / "cases") == ()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "asks at a terminal"),
        (("--promote", "00000000"), "--promote 00000000: no cause"),
        (
            ("--mark", f"{A}=closed"),
            f"--mark {A}=closed: write ID=STATUS with one of open, wont-fix, limitation, fixed-in:VERSION\n",
        ),
        (("--mark", f"{A}=open:0.28"), "a version for no other status"),
        (("--mark", f"{A}=fixed-in"), "write fixed-in:VERSION"),
        (("--mark", f"{A}=fixed-in:soon"), "no version: 'soon'"),
        (("--merge", f"{A}=00000000"), "--merge 00000000: no entry"),
        (("--merge", A), "no entry"),
        (("--known", "none", "--promote", "all"), "--known none"),
        (("--known", "x.json", "--promote", "all"), "is a baseline"),
    ],
)
def test_wrong_usage_of_triage(
    passfuzz: Any, out: Path, known: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], reason: str
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("p\n"))
    monkeypatch.chdir(out.parent)
    status, stdout, err = passfuzz("triage", out, "--known", known, *options)
    assert (status, stdout, err.count("\n")) == (2, "", 1)
    assert reason in err
    assert not known.exists()


def test_triage_of_no_results_and_of_older_ones(passfuzz: Any, tmp_path: Path, known: Path) -> None:
    assert passfuzz("triage", tmp_path, "--json")[0] == 2
    old = left_by_a_run(tmp_path / "old", found(None))
    status, stdout, err = passfuzz("triage", old, "--json", "--known", "none")
    assert status == 0
    assert "warning: 1 finding without a cause, by an older passfuzz: each counts" in err
    (cause,) = json.loads(stdout)["causes"]
    status, _, err = passfuzz("triage", old, "--known", known, "--mark", f"{cause['id']}=wont-fix")
    assert status == 2
    assert "has no cause" in err.splitlines()[-1]


# --- the walk -------------------------------------------------------------------------------------------


def walked(triage: Triage, *typed: str) -> tuple[str, list[Path]]:
    """What the walk has said, and the folders that it opened. Every line is typed in turn, then input ends."""
    lines, opened = iter(typed), list[Path]()

    def ask(prompt: str) -> str:
        for line in lines:
            return line
        raise EOFError

    stream = StringIO()
    triage_walk.ask_about_each(triage, Terminal(file=stream, width=200), ask, opened.append)
    return stream.getvalue(), opened


def test_the_walk_shows_each_new_cause_and_writes_each_decision(out: Path, known: Path) -> None:
    triage = open_triage(out, known, TODAY)
    said, opened = walked(triage, "?", "i", "v", "d", "f", "p", "A better title", "a note", "w", "by design")
    assert f"1/2  {A}" in said and f"2/2  {B}" in said
    assert "message: first of a" in said
    assert (out / FINDINGS[0].folder / "issue.md").read_text().splitlines()[0] in said
    assert "type one of the letters" in said and "import tvm" in said and "no diff" in said
    assert [folder.parent for folder in opened] == [out.absolute() / "findings"]
    a, b = read_registry(known).entries
    assert (a.title, a.note, a.status) == ("A better title", "a note", "open")
    assert (b.status, b.note) == ("wont-fix", "by design")
    assert said.rstrip().endswith("no more new causes")
    assert walked(triage)[0].startswith("0 new causes")


def test_the_walk_shows_what_the_pass_did(tmp_path: Path, known: Path) -> None:
    one = found("a")
    one = replace(one, verdict=replace(one.verdict, difference="-a = R.add(x, y)\n+a = R.subtract(x, y)"))
    out = left_by_a_run(tmp_path / "out", one)
    said, _ = walked(open_triage(out, known, TODAY), "d", "s")
    assert [line.strip() for line in said.splitlines() if line.startswith(("-a", "+a"))] == [
        "-a = R.add(x, y)",
        "+a = R.subtract(x, y)",
    ]


def test_what_was_decided_before_the_end_stays(out: Path, known: Path) -> None:
    triage = open_triage(out, known, TODAY)
    walked(triage, "p", "", "", "q")
    assert titles(known) == {"a": "open"}
    said, _ = walked(triage, "m", "no such", "m", A)
    assert "0 entries; type the ID of one" in said
    (entry,) = read_registry(known).entries
    assert entry.also == ("b",)


def test_a_decision_that_is_refused_is_asked_again(out: Path, known: Path) -> None:
    said, _ = walked(open_triage(out, known, TODAY), "l", "short", "", "s", "s")
    assert "quote: shorter than" in said
    assert not known.exists()


def test_hostile_results_do_nothing_to_the_terminal(tmp_path: Path, known: Path) -> None:
    nasty = replace(found(NASTY, message=NASTY), fault=(NASTY,))
    out = left_by_a_run(tmp_path / "out", nasty)
    said, _ = walked(open_triage(out, known, TODAY), "v", "d", "p", NASTY.replace("\x00", ""), "")
    assert "\x1b" not in said and "\x00" not in said
    assert r"\x1b[31m" in said
    (entry,) = read_registry(known).entries
    assert entry.cause == NASTY


def test_links_are_not_followed(tmp_path: Path, known: Path, out: Path) -> None:
    folder = out / FINDINGS[2].folder
    (folder / "repro.py").unlink()
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    (folder / "repro.py").symlink_to(secret)
    said, _ = walked(open_triage(out, known, TODAY), "s", "v", "s")
    assert "the secret" not in said and "repro.py: " in said
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    said, opened = walked(open_triage(out, known, TODAY), "s", "f", "p", "", "", "s")
    assert opened == []
    assert "its folder is not there" in said and "no folder of a finding" in said


def test_at_a_terminal_the_command_asks(out: Path, known: Path) -> None:
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "fuzzer.cli", "triage", str(out), "--known", str(known)]
    try:
        with subprocess.Popen(command, stdin=inner, stdout=subprocess.PIPE, text=True, cwd=ROOT) as asked:
            os.write(outer, b"w\nby design\nq\n")
            said, _ = asked.communicate(timeout=HANGS_S)
    finally:
        os.close(outer)
        os.close(inner)
    assert asked.returncode == 0
    assert "[p]romote as open" in said
    assert titles(known) == {"a": "wont-fix"}


# --- list causes ----------------------------------------------------------------------------------------


def test_causes_are_listed_and_stale_ones_apart(passfuzz: Callable[..., Any], known: Path) -> None:
    today = date.today().isoformat()
    add_entries(
        known, [KnownCause("a", "A", seen=today), KnownCause("b", "B", seen="2020-01-01"), KnownCause("c", "C")]
    )
    rows = json.loads(passfuzz("list", "causes", "--known", known, "--json")[1])["causes"]
    assert [(row["id"], row["title"], row["seen"], row["stale"]) for row in rows] == [
        (A, "A", today, False),
        (B, "B", "2020-01-01", True),
        (cause_id("c"), "C", "never", True),
    ]
    stale = json.loads(passfuzz("list", "causes", "--known", known, "--stale", "--json")[1])["causes"]
    assert [row["title"] for row in stale] == ["B", "C"]
    assert passfuzz("list", "causes")[0] == 0
    assert passfuzz("list", "causes", "--known", "none")[1].splitlines()[-1] == "0 causes"
    assert passfuzz("list", "ops", "--stale")[0] == 2


def test_the_corpus_is_where_the_shipped_registry_expects_it() -> None:
    from corpus.registry import SHIPPED

    assert SHIPPED.parent / "cases" == CORPUS
    assert SHIPPED.is_file()


def test_a_bad_registry_to_update_is_named_with_its_option(passfuzz: Any, out: Path, known: Path) -> None:
    known.parent.mkdir()
    known.write_text("schema = 1\n\n[[cause]]\ntitle = 3\n")
    status, _, err = passfuzz("report", out, "--update", known)
    assert (status, known.read_text().endswith("title = 3\n")) == (2, True)
    assert f"--update {known}, line 4: title: a text is wanted, and this is 3" in err


def test_a_limitation_wants_the_sentence_that_states_it(passfuzz: Any, out: Path, known: Path) -> None:
    before = known.read_text() if known.exists() else ""
    status, _, err = passfuzz("triage", out, "--known", known, "--mark", f"{A}=limitation", "--note", "stated")
    assert status == 2
    assert f"{A}: a limitation" in err and "--quote" in err
    assert (known.read_text() if known.exists() else "") == before
