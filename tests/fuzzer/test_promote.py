"""`passfuzz promote`: the folder of a finding becomes a case and an entry, and no user's own by that."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus import own
from corpus.agreement import lacks
from corpus.findings import stored_from
from corpus.promotion import readable_slug
from corpus.registry import KnownCause, add_entries, read_registry
from corpus.store import read_case
from fuzzer.commands.promote import Words, promote
from fuzzer.errors import UsageError
from tests.corpus.stored_cases import found, put_case, put_finding
from tests.fuzzer.triage_data import FINDINGS, TODAY, A, left_by_a_run, titles


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return left_by_a_run(tmp_path / "out", *FINDINGS)


@pytest.fixture
def known(tmp_path: Path) -> Path:
    return tmp_path / "mine" / "known.toml"


def test_a_promoted_finding_is_a_case_and_an_entry(passfuzz: Any, out: Path, known: Path) -> None:
    folder = out / FINDINGS[0].folder
    status, stdout, err = passfuzz("promote", folder, "--known", known, "--note", "seen by hand")
    assert (status, err) == (0, f"passfuzz: --known {known}: was not there and is made\n")
    (entry,) = read_registry(known).entries
    assert stdout == f"{A}: {known.parent / 'cases' / entry.case}: {entry.title}\n"
    assert (entry.cause, entry.status, entry.tier, entry.note) == ("a", "open", "C", "seen by hand")
    assert (entry.versions, entry.seen) == (("0.27.0",), date.today().isoformat())
    assert entry.case == "fuse-ops-ill-formed-first-of-a"
    case = known.parent / "cases" / entry.case
    assert read_case(case) == read_case(folder)
    assert {file.name for file in case.iterdir()} == {file.name for file in folder.iterdir()}
    assert own.is_own(case)
    assert lacks(read_registry(known), known.parent / "cases") == ()


def test_names_are_given_once(out: Path, known: Path) -> None:
    slugs = [
        promote(put_finding(out, found(cause, message="same")), known, Words(), TODAY).case for cause in ("x", "y", "z")
    ]
    assert slugs == [f"fuse-ops-ill-formed-same{end}" for end in ("", "-2", "-3")]


@pytest.mark.parametrize(
    ("culprit", "slug"),
    [
        ("VMShapeLower", "vm-shape-lower"),
        ("FoldBatchnormToConv2D", "fold-batchnorm-to-conv2d"),
        ("tirx.BF16ComputeLegalize", "tirx-bf16-compute-legalize"),
        ("s_tir.Schedule[read_at]", "s-tir-schedule-read-at"),
        ("FuseTIR", "fuse-tir"),
    ],
)
def test_names_can_be_read(tmp_path: Path, culprit: str, slug: str) -> None:
    stored = replace(stored_from(found("a")), culprit=culprit, symptom="crash", message="it is " + "long " * 30)
    assert readable_slug(stored, tmp_path).startswith(f"{slug}-crash-it-is-long")
    assert len(readable_slug(stored, tmp_path)) <= 60
    assert readable_slug(replace(stored, culprit="con", symptom="", message=""), tmp_path) == "case"
    assert readable_slug(replace(stored, culprit="\u00e9", symptom="", message=""), tmp_path) == "case"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (Words(slug="../up"), "--slug ../up: no name"),
        (Words(status="fixed-in", fixed_in="soon"), "no version"),
    ],
)
def test_nothing_is_left_of_what_is_refused(out: Path, known: Path, words: Words, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        promote(out / FINDINGS[0].folder, known, words, TODAY)
    assert not known.exists()
    assert list(known.parent.glob("cases/*")) == []


def test_what_cannot_be_promoted_is_said(passfuzz: Any, out: Path, known: Path, tmp_path: Path) -> None:
    older = put_finding(tmp_path, found(None))
    broken = put_finding(tmp_path / "broken", FINDINGS[0])
    (broken / "case.json").write_text("{")
    for folder, reason in (
        (older, "has no cause"),
        (broken, "case.json"),
        (tmp_path / "nowhere", "no such file or folder"),
        (tmp_path, "no case.json"),
    ):
        status, _, err = passfuzz("promote", folder, "--known", known)
        assert (status, err.count("\n")) == (2, 1)
        assert reason in err
    passfuzz("promote", out / FINDINGS[0].folder, "--known", known)
    status, _, err = passfuzz("promote", out / FINDINGS[1].folder, "--known", known)
    assert status == 2
    assert f"{known}, line 4: has the cause" in err


def test_a_case_of_the_corpus_gets_its_entry(passfuzz: Any, known: Path) -> None:
    case = known.parent / "cases" / "by-hand"
    put_case(case, "c")
    assert passfuzz("promote", case, "--known", known)[0] == 0
    (entry,) = read_registry(known).entries
    assert (entry.cause, entry.case, entry.versions) == ("c", "by-hand", ("0.27.0",))
    assert [folder.name for folder in case.parent.iterdir()] == ["by-hand"]
    assert passfuzz("promote", case, "--known", known)[0] == 2
    assert case.is_dir()


def test_an_entry_without_a_case_gets_one(out: Path, known: Path) -> None:
    add_entries(known, [KnownCause("a", "By hand", "wont-fix")])
    promote(out / FINDINGS[0].folder, known, Words(), TODAY)
    (entry,) = read_registry(known).entries
    assert (entry.title, entry.status, entry.case) == ("By hand", "wont-fix", "fuse-ops-ill-formed-first-of-a")


def test_a_case_of_somebody_else_does_not_become_ones_own(out: Path, known: Path) -> None:
    folder = out / FINDINGS[0].folder
    (folder / "repro.py").write_text("import os\n")  # the mark is no longer that of these files
    (folder / "elsewhere").symlink_to("/etc/passwd")
    (folder / "program.sh").write_text("")
    entry = promote(folder, known, Words(), TODAY)
    case = known.parent / "cases" / entry.case
    assert (case / "repro.py").read_text() == "import os\n"
    assert not own.is_own(case)
    assert not {"elsewhere", "program.sh"} & {file.name for file in case.iterdir()}


def test_a_stranger_needs_trust_for_the_corpus_of_passfuzz(
    out: Path, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose scripts run without walls."""
    monkeypatch.setattr("fuzzer.commands.promote.CORPUS", known.parent / "cases")
    folder = out / FINDINGS[0].folder
    promote(folder, known, Words(), TODAY)
    stranger = out / FINDINGS[2].folder
    (stranger / "repro.py").write_text("import os\n")
    with pytest.raises(UsageError, match="of another user.*--trust"):
        promote(stranger, known, Words(), TODAY)
    assert titles(known) == {"a": "open"}
    promote(stranger, known, Words(), TODAY, trust=True)
    assert titles(known) == {"a": "open", "b": "open"}


def test_a_corpus_of_ones_own_gets_a_copy_and_no_registry(passfuzz: Any, out: Path, tmp_path: Path) -> None:
    folder, mine = out / FINDINGS[0].folder, tmp_path / "cases"
    status, stdout, err = passfuzz("promote", folder, "--corpus", mine)
    assert (status, err) == (0, "")
    (case,) = mine.iterdir()
    assert stdout.startswith(f"{case}: ")
    assert read_case(case) == read_case(folder)
    assert own.is_own(case)
    status, _, err = passfuzz("promote", folder, "--corpus", mine, "--known", tmp_path / "known.toml")
    assert (status, "--corpus: a folder of cases has no registry" in err) == (2, True)


def test_what_nothing_has_confirmed_is_not_promoted(out: Path, known: Path) -> None:
    folder = out / FINDINGS[0].folder
    (folder / "repro.py").rename(folder / "repro.unconfirmed.py")
    with pytest.raises(UsageError, match="nothing has confirmed it"):
        promote(folder, known, Words(), TODAY)
