"""`passfuzz triage OUT`: what a person decides of the new causes of a run. Its file is the registry of known causes.

Here are the decisions, each of which is written at once, and the options that make them in scripts; the walk through
the terminal is in `fuzzer.commands.triage_walk`. Nothing under OUT is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import get_args

from corpus.causes.blamed import only
from corpus.escapes import one_line
from corpus.number_of import number_of
from corpus.registry import (
    BadRegistry,
    EntryValue,
    KnownCause,
    Registry,
    Status,
    add_entries,
    cause_id,
    change_entries,
)
from corpus.regular_files import is_real_folder
from fuzzer.commands.promote import Words, best_tier, not_written, promote, promoted_line, registry_to_edit
from fuzzer.errors import UsageError, tell
from fuzzer.known_causes import Known
from generators.json_values import JsonObject
from reports.causes import CauseRow, causes_of
from reports.finding_row import FindingRow
from reports.summary import Report, UnreadableOut, read_out

EVERY = "all"
"""The ID of `--promote` that stands for each new cause."""


@dataclass(frozen=True, slots=True)
class Triage:
    """A run, or several that are read as one, and one registry; None for none, in which nothing can be decided.

    today: written into entries. trust: as of `fuzzer.commands.promote.promote`.
    """

    outs: tuple[Path, ...]
    registry: Path | None
    report: Report
    today: date
    trust: bool = False

    @property
    def out(self) -> str:
        """The folders, for people."""
        return one_line(", ".join(map(str, self.outs)))

    @property
    def known(self) -> Registry:
        """The registry as it is now."""
        return Registry() if self.registry is None else registry_to_edit(self.registry)

    @property
    def file(self) -> Path:
        """The registry that decisions go to. Raises UsageError where there is none."""
        if self.registry is None:
            raise UsageError("--known none: there must be a registry to write into")
        return self.registry

    @property
    def versions(self) -> tuple[str, ...]:
        """Of TVM, in the run, or in each of them."""
        return _versions(self.report)

    def as_known(self) -> Known:
        """The same, on the TVM of the run."""
        return Known(first_version(self.report), self.known)

    def causes(self) -> tuple[CauseRow, ...]:
        """The causes of the run, as the registry says now what is known of them."""
        known = self.as_known()
        return causes_of(told_again(known, row) for row in self.report.findings)

    def new(self) -> tuple[CauseRow, ...]:
        """Those that make a job red, if their tier does."""
        return tuple(cause for cause in self.causes() if not cause.known)

    def folder(self, cause: CauseRow) -> Path | None:
        """The folder of its smallest finding that has one."""
        rows = sorted(cause.findings, key=lambda row: (not row.reduced, sum(row.reduced.values())))
        folders = (out / row.case for row in rows if row.case for out in self.outs)
        return next((one for one in folders if is_real_folder(one.parent) and is_real_folder(one)), None)

    def promote(self, cause: CauseRow, words: Words) -> str:
        """Its case joins the corpus and it joins the registry; what was done, in a line."""
        folder = self.folder(cause)
        if folder is None:
            raise UsageError(f"{self.out}: no folder of a finding of {cause.id}")
        entry = promote(folder, self.file, words, self.today, self.trust, best_tier([cause.tier]))
        return promoted_line(self.file, entry)

    def mark(self, cause: CauseRow, words: Words) -> str:
        """Gives it a status and a note. An open cause that is in no entry is promoted, for it needs a case."""
        entry = self.known.match(cause.cause)
        if entry is None and words.status == "open":
            return self.promote(cause, words)
        if words.status == "limitation" and not (words.quote or (entry is not None and entry.quote)):
            raise UsageError(f"{cause.id}: a limitation is marked with the sentence that TVM states it with: --quote")
        try:
            if entry is None:
                add_entries(self.file, [self._entry(cause, words)])
            else:
                fields = {"status": words.status, "fixed_in": words.fixed_in}
                said = {"title": words.title, "note": words.note, "quote": words.quote}
                given = {name: text for name, text in said.items() if text}
                change_entries(self.file, {entry.identity: {**fields, **given}})
        except (BadRegistry, OSError) as error:
            raise not_written(self.file, error) from error
        return one_line(f"{cause.id}: {words.status}: {words.title or cause.title}")

    def merge(self, cause: CauseRow, entry: KnownCause) -> str:
        """Says that it is the same bug as a known cause."""
        _require_cause(cause)
        own = next((one for one in self.known.entries if one.cause == cause.cause), None)
        if own is not None:
            raise UsageError(
                f"{cause.id}: has an entry of its own: {self.registry}, line {own.line}; remove that first"
            )
        also = (*entry.also, cause.cause)
        if not entry.cause:
            raise UsageError(f"{cause_id(entry.identity)}: is a limit that is known by its quote; it has no cause")
        try:
            change_entries(
                self.file, {entry.identity: {"also": tuple(dict.fromkeys(also)), **_blamed_too(entry, cause)}}
            )
        except (BadRegistry, OSError) as error:
            raise not_written(self.file, error) from error
        return one_line(f"{cause.id}: one with {cause_id(entry.identity)}: {entry.title}")

    def add(self, cause: CauseRow) -> None:
        """It joins the registry as an open one, with its case where its folder is there."""
        if self.folder(cause) is not None:
            self.promote(cause, Words())
            return
        try:
            add_entries(self.file, [self._entry(cause, Words())])
        except (BadRegistry, OSError) as error:
            raise not_written(self.file, error) from error

    def _entry(self, cause: CauseRow, words: Words) -> KnownCause:
        _require_cause(cause)
        return KnownCause(
            cause=cause.cause,
            blames=only(cause.findings[0].blames),
            title=one_line(words.title or cause.title),
            status=words.status,
            versions=self.versions,
            link=cause.link,
            note=words.note,
            quote=words.quote,
            fixed_in=words.fixed_in,
            seen=self.today.isoformat(),
            tier=best_tier([cause.tier]),
        )


def _versions(report: Report) -> tuple[str, ...]:
    return tuple(report.facts.tvm.replace(",", " ").split())


def first_version(report: Report) -> str:
    """Of TVM: that of the first run; "" where none is known."""
    return next(iter(_versions(report)), "")


def open_triage(out: Path, registry: Path | None, today: date, trust: bool = False) -> Triage:
    """Raises UsageError for a folder without results, and for a registry that cannot be read."""
    try:
        report = read_out(out)
    except UnreadableOut as error:
        raise UsageError(str(error)) from error
    for note in report.notes:
        tell(f"warning: {one_line(note)}")
    older = sum(not row.cause for row in report.findings)
    if older:
        of_older = f"{number_of(older, 'finding')} without a cause, by an older passfuzz"
        tell(f"warning: {of_older}: each counts as a cause of its own")
    triage = Triage((out,), registry, report, today, trust)
    for line in triage.known.twice:
        tell(f"warning: {line}")
    return triage


@dataclass(frozen=True, slots=True)
class Actions:
    """The options that decide without asking: IDs, "ID=STATUS" (or "ID=fixed-in:VERSION") and "ID=ID"."""

    promote: Sequence[str] = ()
    mark: Sequence[str] = ()
    merge: Sequence[str] = ()
    note: str = ""
    quote: str = ""

    def __bool__(self) -> bool:
        return bool(self.promote or self.mark or self.merge)


def decide(triage: Triage, actions: Actions) -> Iterator[str | UsageError]:
    """Does what the options say, in the order promote, merge, mark; a line for each decision, or why it was not made.
    One that is not made keeps none of the others.

    Raises EnvironmentFault where the registry cannot be written.
    """
    for decision in _decisions(triage, actions):
        try:
            yield decision()
        except UsageError as error:
            yield error


def _decisions(triage: Triage, actions: Actions) -> Iterator[Callable[[], str]]:
    """Each decision, which is made by calling it."""
    words = Words(note=actions.note)
    for name in actions.promote:
        if name == EVERY:
            yield from (partial(triage.promote, cause, words) for cause in triage.new())
        else:
            yield partial(_promote_named, triage, name, words)
    yield from (partial(_merge_named, triage, text) for text in actions.merge)
    yield from (partial(_mark_named, triage, text, actions) for text in actions.mark)


def _promote_named(triage: Triage, name: str, words: Words) -> str:
    return triage.promote(cause_with(triage, name, "--promote"), words)


def _merge_named(triage: Triage, text: str) -> str:
    name, _, other = text.partition("=")
    cause = cause_with(triage, name, "--merge")
    return triage.merge(cause, _entry_with(triage, other, "--merge"))


def _mark_named(triage: Triage, text: str, actions: Actions) -> str:
    name, _, status = text.partition("=")
    words = read_status(status, f"--mark {text}")
    cause = cause_with(triage, name, "--mark")
    return triage.mark(cause, replace(words, note=actions.note, quote=actions.quote))


def refuse_those(refused: Sequence[UsageError], made: int) -> None:
    """Raises UsageError where something could not be written of a cause: what alone was asked for as it is, else the
    number of such, after a line on stderr for each. made: of how many causes it was."""
    if not refused:
        return
    if len(refused) == 1 and not made:
        raise refused[0]
    for error in refused:
        tell(f"error: {error}")
    raise UsageError(f"{len(refused)} of {number_of(made + len(refused), 'cause')} left out; the others are written")


def read_status(text: str, option: str) -> Words:
    """The status in "wont-fix" or "fixed-in:0.28.0". Raises UsageError."""
    name, _, version = text.partition(":")
    statuses: tuple[Status, ...] = get_args(Status)
    status = next((one for one in statuses if one == name), None)
    if status is None:
        named = ", ".join(f"{one}:VERSION" if one == "fixed-in" else one for one in statuses)
        raise UsageError(f"{one_line(option)}: write ID=STATUS with one of {named}")
    if (status == "fixed-in") != bool(version):
        raise UsageError(f"{one_line(option)}: write fixed-in:VERSION, and a version for no other status")
    return Words(status=status, fixed_in=version)


def cause_with(triage: Triage, name: str, option: str) -> CauseRow:
    """The cause of the run with an ID. Raises UsageError."""
    found = next((cause for cause in triage.causes() if name in cause.ids), None)
    if found is None:
        raise UsageError(f"{option} {one_line(name)}: no cause of {triage.out} has this ID; --json lists them")
    return found


def _entry_with(triage: Triage, name: str, option: str) -> KnownCause:
    found = next((entry for entry in triage.known.entries if cause_id(entry.identity) == name), None)
    if found is None:
        raise UsageError(
            f"{option} {one_line(name)}: no entry of {triage.registry} has this ID; `passfuzz list causes` lists them"
        )
    return found


def to_json(triage: Triage, done: Sequence[str], refused: Sequence[UsageError]) -> JsonObject:
    """The causes of the run as they stand now, what was done, and why the rest was not."""
    causes = [{**cause.to_json(), "folder": _text(triage.folder(cause))} for cause in triage.causes()]
    return {
        "registry": _text(triage.registry),
        "causes": causes,
        "done": list(done),
        "refused": [str(one) for one in refused],
    }


def _text(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


def told_again(known: Known, row: FindingRow) -> FindingRow:
    """A row as the registry says now. The limit that a run saw stays one: the row has a part of the message alone."""
    told = known.told(row)
    stays = not row.cause or row.standing == "limitation"
    return row if told.standing == "new" and stays else told


def _blamed_too(entry: KnownCause, cause: CauseRow) -> dict[str, EntryValue]:
    """What changes in whom an entry blames when a cause joins it. Where that of either is not known, the texts say it,
    so that the entry has no such field."""
    blamed = only(cause.findings[0].blames)
    if entry.blames is None or blamed is None:
        return {} if entry.blames is None else {"blames": ()}
    return {"blames": (*entry.blames, *blamed)} if set(blamed) - set(entry.blames) else {}


def _require_cause(cause: CauseRow) -> None:
    if not cause.cause:
        raise UsageError(f"{cause.id}: has no cause, as an older passfuzz has written it; a new run finds it again")
