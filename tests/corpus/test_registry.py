"""The registry of known causes: read, refused with file, line and reason, and edited without loss."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.agreement import Lack, lacks
from corpus.causes.severity import SEVERITIES
from corpus.registry import (
    SHIPPED,
    BadRegistry,
    KnownCause,
    Registry,
    add_entries,
    cause_id,
    change_entries,
    parse,
    read_registry,
)
from corpus.replayable import replayable
from tests.corpus.stored_cases import put_case
from tests.patience import HANGS_S

HEAD = "schema = 1\n"
ENTRY = '[[cause]]\ncause = "a.cc:f: x"\ntitle = "T"\n'
QUOTE = "The number of parameters should be the same"


def registry(text: str) -> Registry:
    return parse(Path("known.toml"), text)


def test_an_entry_has_what_stands_in_the_file_and_its_line() -> None:
    (first, second) = registry(
        f"# by hand\n{HEAD}\n{ENTRY}\n"
        f'[[cause]]  # a limit\ntitle = "L"\nstatus = "limitation"\nquote = "{QUOTE}"\n'
        'also = ["b"]\nseen = "2026-11-22"\n'
    ).entries
    assert first == KnownCause("a.cc:f: x", "T", line=4)
    assert second == KnownCause("", "L", "limitation", ("b",), quote=QUOTE, seen="2026-11-22", line=8)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("schema = 1\nx = = 2\n", None, r"not TOML.*line 2"),
        ("", None, "no `schema = 1`"),
        ("schema = 2\n", None, "schema 2; this passfuzz reads 1"),
        ("schema = true\n", None, "schema True"),
        (HEAD + "causes = 1\n", None, "unknown field 'causes'"),
        (HEAD + "cause = 1\n", None, "begin with"),
        (HEAD + "cause = [1]\n", None, "entry 1: no entry; entries begin with"),
        (
            HEAD + ENTRY + 'status = "closed"\n',
            5,
            "status: one of open, wont-fix, limitation, fixed-in is wanted, and this is 'closed'",
        ),
        (HEAD + ENTRY + ENTRY + "also = 3\n", 8, "also: a list of texts is wanted, and this is 3"),
        (HEAD + ENTRY + "tittle = 'x'\n", 5, "unknown field 'tittle'; there are cause, title, "),
        (HEAD + '[[cause]]\ncause = "a"\n', 2, "title: is missing"),
        (HEAD + '[[cause]]\ntitle = "a"\n', 2, "cause: is empty"),
        (HEAD + ENTRY.replace('"T"', '" "'), 4, "title: is empty"),
        (HEAD + ENTRY + "also = ['']\n", 5, "also: one is empty"),
        (HEAD + ENTRY + 'status = "limitation"\nquote = "short"\n', 6, "quote: shorter than 16"),
        (HEAD + ENTRY + 'case = "../x"\n', 5, "case: no name of a folder"),
        (HEAD + ENTRY + 'status = "fixed-in"\n', 2, "fixed_in: is wanted"),
        (HEAD + ENTRY + 'fixed_in = "0.28"\n', 5, "fixed_in: is wanted"),
        (HEAD + ENTRY + 'status = "fixed-in"\nfixed_in = "soon"\n', 6, "fixed_in: no version"),
        (HEAD + ENTRY + 'seen = "yesterday"\n', 5, "seen: no day"),
        (HEAD + ENTRY + 'seen = "20261122"\n', 5, "seen: no day"),
        (HEAD + ENTRY + "seen = 2026-11-22\n", 5, "seen: a text is wanted, and this is 2026-11-22"),
        (HEAD + ENTRY + 'tier = "D"\n', 5, "tier: one of A, B, C is wanted, and this is 'D'"),
        (
            HEAD + ENTRY + 'severity = "bad"\n',
            5,
            "severity: one of silent wrong result, .* is wanted, and this is 'bad'",
        ),
        (HEAD + ENTRY + 'passes = "FuseOps"\n', 5, "passes: a list of texts is wanted, and this is 'FuseOps'"),
        (HEAD + ENTRY + 'passes = [""]\n', 5, "passes: one is empty"),
        (HEAD + ENTRY + 'blames = "FuseOps"\n', 5, "blames: a list of texts is wanted, and this is 'FuseOps'"),
        (HEAD + ENTRY + 'blames = [""]\n', 5, "blames: one is empty"),
        (HEAD + ENTRY + "why = 1\n", 5, "why: a text is wanted, and this is 1"),
        (HEAD + ENTRY + "read = 'yes'\nwhy = 'w'\n", 5, "read: true or false is wanted, and this is 'yes'"),
        (HEAD + ENTRY + 'note = """\nseen = 1\n"""\nseen = 1\n', 8, "seen: a text is wanted, and this is 1"),
        (HEAD + ENTRY + "read = true\n", 5, "read: is true, and why is empty"),
    ],
)
def test_a_bad_entry_is_named_with_file_line_and_reason(text: str, line: int | None, reason: str) -> None:
    where = "known.toml: " if line is None else f"known.toml, line {line}: "
    with pytest.raises(BadRegistry, match=f"(?s)^{where}.*{reason}") as refused:
        registry(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"schema = 1\n\x00", b"schema = 1\nx = " + b"[" * 100_000])
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "known.toml").write_bytes(content)
    with pytest.raises(BadRegistry, match="known.toml"):
        read_registry(tmp_path / "known.toml")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_registry(tmp_path / "known.toml")
    with pytest.raises(BadRegistry, match="is a folder; a file is wanted"):
        read_registry(tmp_path)


def test_lines_are_right_where_a_text_holds_the_header() -> None:
    """Where they cannot be told the entry is counted."""
    text = HEAD + '[[cause]]\ncause = "a"\ntitle = "T"\nnote = """\n[[cause]]\n"""\n[[cause]]\ntitle = "U"\n'
    with pytest.raises(BadRegistry, match=r"^known\.toml: entry 2: cause: is empty"):
        registry(text)


def test_an_entry_says_whose_fault_it_is() -> None:
    (entry,) = registry(
        f'{HEAD}{ENTRY}severity = "native crash"\npasses = ["B", "A"]\nroot = "a.cc:f"\n'
        'why = """\\\nIt takes \\\n  `x`."""\nfix = "Ask."\nread = true\n'
    ).entries
    assert (entry.severity, entry.passes, entry.read) == ("native crash", ("B", "A"), True)
    assert (entry.why, entry.fix) == ("It takes `x`.", "Ask.")


# --- matching -------------------------------------------------------------------------------------------


def test_a_finding_matches_by_cause_by_also_and_a_limit_by_its_quote() -> None:
    known = Registry(
        (
            KnownCause("a", "A", also=("b",)),
            KnownCause("", "L", "limitation", quote=QUOTE),
            KnownCause("c", "C", "open", quote="a sentence of an open one"),
        )
    )
    titles = {
        cause: entry and entry.title for cause in ("a", "b", "c", "d", "") for entry in [known.match(cause, "nothing")]
    }
    assert titles == {"a": "A", "b": "A", "c": "C", "d": None, "": None}
    assert known.match("new", f"InternalError: (2 vs. 1) : {QUOTE} for all").title == "L"  # type: ignore[union-attr]
    assert known.match("new", "a sentence of an open one") is None


def test_the_first_of_two_entries_wins_and_both_are_told() -> None:
    known = registry(HEAD + ENTRY + ENTRY.replace('"T"', '"U"') + 'also = ["z"]\n')
    assert known.match("a.cc:f: x") == known.entries[0]
    assert [entry.line for entry in known.matches("a.cc:f: x")] == [2, 5]
    assert known.twice == ("known.toml: lines 2 and 5 claim one cause, the first counts: a.cc:f: x",)


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ("0.27.0.post1", False),
        ("0.28.0", True),
        ("0.28.0.post1", True),
        ("0.29", True),
        ("0.28.dev7", False),
        ("missing", False),
    ],
)
def test_a_fix_is_in_its_version_and_later_ones(version: str, fixed: bool) -> None:
    assert KnownCause("a", "A", "fixed-in", fixed_in="0.28.0").is_fixed_in(version) is fixed
    assert not KnownCause("a", "A").is_fixed_in(version)


@pytest.mark.parametrize(
    ("seen", "stale"), [("2026-11-23", False), ("2026-10-24", False), ("2026-10-23", True), ("", True)]
)
def test_what_matched_nothing_for_a_month_is_stale(seen: str, stale: bool) -> None:
    today = date(2026, 11, 23)
    entry = KnownCause("a", "A", seen=seen)
    assert (entry.is_stale(today), Registry((entry,)).stale(today)) == (stale, (entry,) if stale else ())
    assert not KnownCause("a", "A", "fixed-in", fixed_in="0.28", seen=seen).is_stale(today)


def test_an_id_is_short_and_stays() -> None:
    """SHA-256 of the text, as FIPS 180-4 gives it for "abc"."""
    assert cause_id("abc") == "ba7816bf"
    assert len(cause_id("\ud800")) == 8


# --- editing --------------------------------------------------------------------------------------------

WRITTEN = """\
# Ours.
schema = 1   # the first

# --- crashes ---
[[cause]]    # reported
title = 'T'
cause = "a"
note = '''two
lines'''

# --- wrong numbers ---

[[cause]]
cause = "b"   # not yet
title = "U"
also = [
  "c",  # by hand
]
# the end
"""


@pytest.mark.parametrize("blames", [None, (), ("FuseOps", "CSE")])
def test_whom_an_entry_blames_is_read_back(tmp_path: Path, blames: tuple[str, ...] | None) -> None:
    """That its causes blame no pass is another thing than that nobody has said."""
    path = tmp_path / "known.toml"
    add_entries(path, [KnownCause("a", "A", blames=blames)])
    assert read_registry(path).entries[0].blames == blames


def test_what_is_added_leaves_the_rest_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(WRITTEN)
    new = KnownCause('d: "x" \x1b \\n', "V\u202e", "wont-fix", ("e",), ("0.27.0",), note="as\nit is", tier="A")
    add_entries(path, [new])
    assert path.read_text().startswith(WRITTEN)
    assert read_registry(path).entries[2] == KnownCause(
        new.cause, new.title, new.status, new.also, new.versions, note=new.note, tier="A", line=21
    )


def test_a_change_touches_one_entry_and_no_comment(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(WRITTEN)
    change_entries(path, {"a": {"status": "limitation", "quote": QUOTE, "note": ""}})
    expected = WRITTEN.replace("note = '''two\nlines'''\n", f'status = "limitation"\nquote = "{QUOTE}"\n')
    assert path.read_text() == expected
    change_entries(path, {"b": {"also": ("c", "d")}})
    assert read_registry(path).entries[1].also == ("c", "d")
    assert path.read_text().endswith("# the end\n")


def test_what_is_no_registry_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    for text in ("schema = 3\n", "not TOML"):
        path.write_text(text)
        with pytest.raises(BadRegistry):
            add_entries(path, [KnownCause("a", "A")])
        assert path.read_text() == text


def test_an_entry_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    add_entries(path, [KnownCause("a", "A")])
    before = path.read_text()
    with pytest.raises(BadRegistry, match="quote: shorter"):
        change_entries(path, {"a": {"status": "limitation", "quote": "short"}})
    with pytest.raises(KeyError):
        change_entries(path, {"b": {"note": "x"}})
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["known.toml"]


def test_a_text_that_begins_with_a_space_keeps_it(tmp_path: Path) -> None:
    path, why = tmp_path / "known.toml", " ".join([" 0000 0000000"] * 30)
    add_entries(path, [KnownCause("A: x", "A dies", "open", why=why)])
    assert read_registry(path).entries[0].why == why


def test_the_last_line_of_a_text_that_looks_like_a_comment_stays(tmp_path: Path) -> None:
    path, why = tmp_path / "known.toml", " ".join(["#00"] * 30)
    add_entries(path, [KnownCause("A: x", "A dies", "open", why=why)])
    path.write_text(path.read_text() + "\n# below\n")
    change_entries(path, {"A: x": {"tier": "A"}})
    assert [(one.why, one.tier) for one in read_registry(path).entries] == [(why, "A")]
    assert path.read_text().endswith("\n# below\n")


def test_prose_stands_in_lines_and_stays_when_another_field_changes(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    why = " ".join(['It emits `CreateFCmpONE`, which is "false" of a \\ NaN.'] * 9)
    new = KnownCause("a " * 99 + "a", "T", severity="silent wrong result", passes=("codegen",), why=why, read=True)
    add_entries(path, [new])
    text = path.read_text()
    assert max(len(line) for line in text.splitlines() if not line.startswith("cause = ")) <= 120
    assert f'cause = "{new.cause}"\n' in text
    change_entries(path, {new.cause: {"fix": why, "passes": ("LLVM",), "severity": "native crash"}})
    kept = text.replace("silent wrong result", "native crash").replace("codegen", "LLVM")
    assert path.read_text().startswith(kept.rstrip("\n"))
    (read,) = read_registry(path).entries
    assert (read.why, read.fix, read.passes, read.read) == (why, why, ("LLVM",), True)
    change_entries(path, {new.cause: {"read": False, "why": ""}})
    assert read_registry(path).entries[0] == replace(read, why="", read=False)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)
ENTRIES = st.builds(
    KnownCause,
    cause=TEXTS,
    title=TEXTS,
    status=st.sampled_from(["open", "wont-fix"]),
    also=st.lists(TEXTS, max_size=2).map(tuple),
    link=st.sampled_from(["", "apache/tvm#1"]),
    note=st.one_of(st.just(""), TEXTS),
    severity=st.sampled_from(["", *SEVERITIES]),
    passes=st.lists(TEXTS, max_size=2).map(tuple),
    why=TEXTS.map(lambda text: " ".join([text] * 30)),
    fix=st.one_of(st.just(""), TEXTS),
    read=st.booleans(),
    tier=st.sampled_from(["A", "B", "C"]),
)


@settings(deadline=None)
@given(st.lists(ENTRIES, min_size=1, max_size=4, unique_by=lambda entry: entry.cause), TEXTS)
def test_what_is_written_is_read_whatever_it_says(
    tmp_path_factory: pytest.TempPathFactory, entries: list[KnownCause], note: str
) -> None:
    path = tmp_path_factory.mktemp("registry") / "known.toml"
    add_entries(path, entries)
    change_entries(path, {entries[0].cause: {"note": note}})
    read = read_registry(path).entries
    assert [replace(one, line=0) for one in read] == [replace(entries[0], note=note), *entries[1:]]


# --- the registry and the cases -------------------------------------------------------------------------


def test_each_way_to_disagree_is_found(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    for slug, cause in (("shown", "a"), ("older", None), ("stranger", "z"), ("other", "b")):
        put_case(cases / slug, cause)
    known = Registry(
        (
            KnownCause("a", "A", case="shown"),
            KnownCause("b", "B", case="other"),
            KnownCause("c", "C"),
            KnownCause("d", "D", "wont-fix"),
            KnownCause("e", "E", case="missing"),
            KnownCause("f", "F", case="other"),
        )
    )
    assert set(lacks(known, cases)) == {
        Lack("no cause", "older"),
        Lack("no entry", "stranger"),
        Lack("no case", "C"),
        Lack("case not there", "E"),
        Lack("another cause", "F"),
    }


def test_the_shipped_registry_and_the_shipped_cases_are_one() -> None:
    registry = read_registry(SHIPPED)
    assert registry.cases is not None
    assert lacks(registry, registry.cases) == ()
    assert registry.twice == ()
    assert len(registry.entries) >= 150


def test_shipped_entries_that_say_why_say_the_rest() -> None:
    told = [entry for entry in read_registry(SHIPPED).entries if entry.why]
    assert [one.title for one in told if not (one.fix and one.root and one.passes and one.severity)] == []
    limits = ("limitation", "wont-fix")
    assert [one.title for one in told if (one.severity == "limitation") != (one.status in limits)] == []


@pytest.mark.deep
def test_the_registry_and_its_cases_are_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=SHIPPED.parents[1], check=True, capture_output=True, timeout=HANGS_S)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    assert "corpus/known.toml" in names
    assert {f"corpus/cases/{one.slug}/case.json" for one in replayable()} <= names
