"""What people have said of each bug of TVM in `docs/bugs/notes.toml`, and how it joins the registry of causes.

A note names findings and cases; what they show is a cause. Once the registry holds all notes, this file and the notes
go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import msgspec

from corpus.bug_pages import PAGES
from corpus.registry import KnownCause, Registry, Severity, Status
from corpus.regular_files import read_regular
from corpus.store import MOST_TEXT
from generators.case import Tier

NOTES = PAGES / "notes.toml"
FOUND_ON = "0.27.0.post1"
_TIERS: dict[Severity, Tier] = {"official pipeline": "A", "odd order": "C"}
"""Of a cause that no entry has yet, as far as the severity says it. The others are "B"."""


class BadNotes(Exception):
    """Notes that cannot be read; the text is one line."""


class BugNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry; `corpus.bug_pages.Bug` says what the fields mean.

    signatures: findings that show it. cases: folders in `corpus/cases` that show it. read: whether the source was read
    line by line.
    """

    title: str
    severity: Severity
    passes: tuple[str, ...]
    signatures: tuple[str, ...]
    cases: tuple[str, ...]
    status: Status
    link: str
    root: str
    why: str
    fix: str
    read: bool
    quote: str = ""
    fixed_in: str = ""

    @property
    def identity(self) -> str:
        return self.title

    @property
    def case(self) -> str:
        return self.cases[0] if self.cases else ""

    @property
    def versions(self) -> tuple[str, ...]:
        return (FOUND_ON,)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    bug: tuple[BugNote, ...]


def read_notes(path: Path) -> tuple[BugNote, ...]:
    """The entries in the order of the file. Raises BadNotes, and FileNotFoundError where there is none."""
    try:
        return msgspec.toml.decode(read_regular(path, MOST_TEXT), type=_File).bug
    except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
        raise BadNotes(f"{path}: {error}") from error


# --- joining --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Joined:
    """registry: without a path and lines. doubts: a line for each note that has no cause, and for each cause that two
    notes claim, of which the first has it."""

    registry: Registry
    doubts: tuple[str, ...]


def joined(
    registry: Registry,
    notes: Iterable[BugNote],
    cause_by_signature: Mapping[str, str],
    cause_by_case: Mapping[str, str],
) -> Joined:
    """The registry with what the notes say of its causes. cause_by_signature and cause_by_case: what the findings, and
    the cases in `corpus/cases`, that the notes name show; "" and missing ones show nothing.

    The first cause of a note is the cause of its entry, all others are `also`. What an entry has beyond a note's fields
    stays: its tier, days, versions, case and remarks. Entries of one note become one, in the place of the first; new
    ones follow in the order of the notes.
    """
    left = dict(enumerate(replace(entry, line=0) for entry in registry.entries))
    made: dict[int, KnownCause] = {}
    doubts: list[str] = []
    claimed: dict[str, str] = {}
    for note in notes:
        shown = tuple(dict.fromkeys(_causes(note, cause_by_signature, cause_by_case)))
        doubts += [f"{note.title}: also claimed by {claimed[one]}: {one}" for one in shown if one in claimed]
        causes = tuple(one for one in shown if one not in claimed)
        before = {place: entry for place, entry in left.items() if _is_of(note, causes, entry)}
        if not causes and not before and not (note.status == "limitation" and note.quote):
            doubts += [] if shown else [f"{note.title}: no cause"]
            continue
        entry = _entry(note, causes, list(before.values()), cause_by_case)
        claimed.update((one, note.title) for one in (entry.cause, *entry.also) if one)
        made[min(before, default=len(registry.entries) + len(made))] = entry
        left = {place: other for place, other in left.items() if place not in before}
    return Joined(
        Registry(tuple(entry for _, entry in sorted((left | made).items(), key=itemgetter(0)))), tuple(doubts)
    )


def _causes(note: BugNote, by_signature: Mapping[str, str], by_case: Mapping[str, str]) -> Iterator[str]:
    shown = (*(by_signature.get(one, "") for one in note.signatures), *(by_case.get(one, "") for one in note.cases))
    return (cause for cause in shown if cause)


def _is_of(note: BugNote, causes: tuple[str, ...], entry: KnownCause) -> bool:
    """Whether an entry of the registry is about the bug of a note."""
    same_limit = bool(note.quote) and note.quote == entry.quote
    return same_limit or not {entry.cause, *entry.also}.isdisjoint(causes)


def _entry(
    note: BugNote, causes: tuple[str, ...], before: list[KnownCause], cause_by_case: Mapping[str, str]
) -> KnownCause:
    """What a note says, with what its entries have had. A case that shows another's cause stays with the other."""
    had = (cause for entry in before for cause in (entry.cause, *entry.also))
    cause, *also = tuple(dict.fromkeys((*causes, *filter(None, had)))) or ("",)
    cases = [one for one in note.cases if cause_by_case.get(one, "") in ("", cause, *also)]
    versions = dict.fromkeys((*(one for entry in before for one in entry.versions), *note.versions))
    return KnownCause(
        cause=cause,
        title=note.title,
        status=note.status,
        also=tuple(also),
        versions=tuple(versions),
        link=note.link,
        root=note.root,
        case=next((one for one in (*(entry.case for entry in before), *cases) if one), ""),
        note=" ".join(entry.note for entry in before if entry.note),
        quote=note.quote,
        fixed_in=note.fixed_in,
        seen=max((entry.seen for entry in before), default=""),
        tier=min((entry.tier for entry in before), default=_TIERS.get(note.severity, "B")),
        severity=note.severity,
        passes=note.passes,
        why=note.why,
        fix=note.fix,
        read=note.read,
    )
