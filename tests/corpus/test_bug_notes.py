"""Notes on bugs join the registry of causes: by what their findings and cases show, without losing anything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from corpus.bug_notes import FOUND_ON, NOTES, BadNotes, BugNote, joined, read_notes
from corpus.registry import SHIPPED, KnownCause, Registry, add_entries, read_registry

QUOTE = "The number of parameters should be the same"
SIGNATURES = {"s1": "a", "s2": "b", "s3": "c", "s4": ""}
BY_CASE = {"case-1": "d", "case-2": "c"}


def note(title: str, **given: Any) -> BugNote:
    plain: dict[str, Any] = {
        "severity": "native crash",
        "passes": ("P",),
        "signatures": (),
        "cases": (),
        "status": "open",
        "link": "apache/tvm#1",
        "root": "a.cc:f",
        "why": "why",
        "fix": "fix",
        "read": True,
    }
    return BugNote(title, **(plain | given))


def join(entries: tuple[KnownCause, ...], *notes: BugNote) -> tuple[tuple[KnownCause, ...], tuple[str, ...]]:
    made = joined(Registry(entries, Path("known.toml")), notes, SIGNATURES, BY_CASE)
    return made.registry.entries, made.doubts


def test_the_first_cause_is_the_entrys_and_the_others_are_the_same_bug() -> None:
    ((entry,), doubts) = join((), note("N", signatures=("s4", "s2", "unknown", "s1", "s2"), cases=("case-1",)))
    assert doubts == ()
    assert entry == KnownCause(
        *("b", "N", "open", ("a", "d"), (FOUND_ON,)),
        link="apache/tvm#1",
        root="a.cc:f",
        case="case-1",
        severity="native crash",
        passes=("P",),
        why="why",
        fix="fix",
        read=True,
    )


def test_what_entries_have_had_stays_and_they_become_one_in_the_first_place() -> None:
    before = (
        KnownCause("x", "X", line=3),
        KnownCause("c", "C", also=("z",), versions=("0.26",), case="old", note="m", seen="2026-11-01", tier="C"),
        KnownCause("y", "Y"),
        KnownCause("a", "A", note="n", seen="2026-11-02", tier="B", severity="odd order", why="old"),
    )
    (entries, doubts) = join(before, note("N", signatures=("s1", "s3"), cases=("case-1",)))
    assert doubts == ()
    assert [entry.title for entry in entries] == ["X", "N", "Y"]
    entry = entries[1]
    assert (entry.cause, entry.also) == ("a", ("c", "d", "z"))
    assert (entry.versions, entry.case, entry.note) == (("0.26", FOUND_ON), "old", "m n")
    assert (entry.seen, entry.tier, entry.severity, entry.why) == ("2026-11-02", "B", "native crash", "why")
    assert [one.line for one in entries] == [0, 0, 0]


def test_a_cause_of_two_notes_goes_to_the_first_and_is_told() -> None:
    first, second = note("First", signatures=("s1", "s3")), note("Second", signatures=("s3", "s2"), cases=("case-2",))
    (entries, doubts) = join((KnownCause("a", "A", also=("b",)),), first, second)
    assert [(one.title, one.cause, one.also) for one in entries] == [("First", "a", ("c", "b"))]
    assert doubts == ("Second: also claimed by First: c", "Second: also claimed by First: b")
    (entries, _) = join((), first, second)
    assert [(one.title, one.cause, one.also, one.case) for one in entries] == [
        ("First", "a", ("c",), ""),
        ("Second", "b", (), ""),
    ]


def test_a_limit_is_found_by_its_quote() -> None:
    limit = KnownCause("", "L", "limitation", quote=QUOTE, tier="C")
    notes = [note(title, status="limitation", severity="limitation", quote=QUOTE) for title in ("N", "M")]
    (entries, doubts) = join((limit,), notes[0])
    assert [(one.title, one.cause, one.quote, one.tier) for one in entries] == [("N", "", QUOTE, "C")]
    assert doubts == ()
    assert [one.title for one in join((limit,), *notes)[0]] == ["N", "M"]


def test_a_note_without_a_cause_is_told() -> None:
    assert join((), note("N", signatures=("s4", "unknown"))) == ((), ("N: no cause",))


@pytest.mark.parametrize(
    ("severity", "tier"), [("official pipeline", "A"), ("odd order", "C"), ("silent wrong result", "B")]
)
def test_the_tier_of_a_new_entry(severity: str, tier: str) -> None:
    assert join((), note("N", signatures=("s1",), severity=severity))[0][0].tier == tier


def test_the_notes_join_the_shipped_registry_and_can_be_written(tmp_path: Path) -> None:
    """With a cause for each finding and each case of theirs, every note has an entry that says what the note says."""
    notes = read_notes(NOTES)
    signatures = {one: f"cause of {one}" for note in notes for one in note.signatures}
    cases = {one: f"cause of {one}" for note in notes for one in note.cases}
    made = joined(read_registry(SHIPPED), notes, signatures, cases)
    path = tmp_path / "known.toml"
    add_entries(path, made.registry.entries)
    read = {entry.title: entry for entry in read_registry(path).entries}
    sourceless = {f"{one.title}: no cause" for one in notes if not (one.signatures or one.cases or one.quote)}
    assert set(made.doubts) == sourceless
    assert read_registry(path).twice == ()
    wanted = {one.title: (one.why, one.fix, one.passes, one.severity, one.read) for one in notes}
    assert {
        title: (one.why, one.fix, one.passes, one.severity, one.read) for title, one in read.items() if one.why
    } == {title: said for title, said in wanted.items() if f"{title}: no cause" not in sourceless}


# --- the file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[bug]\n", "notes.toml: "),
        ('[[bug]]\ntitle = "t"\n', "missing required field"),
        ('[[bug]]\ntitle = "t"\nseverity = "bad"\n', "severity"),
        ('[[bug]]\ntitle = "t"\ncolour = "red"\n', "colour"),
    ],
)
def test_bad_notes_say_what_is_bad(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "notes.toml"
    path.write_text(text)
    with pytest.raises(BadNotes, match=re.escape(str(path))) as error:
        read_notes(path)
    assert reason in str(error.value)
