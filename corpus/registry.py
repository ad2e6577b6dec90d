"""The registry of known causes, `corpus/known.toml`: what is known of each, and which case shows it.

A finding is known where its cause is one of an entry's (`cause`, `also`), or where TVM's message holds the sentence
that an entry of a limit quotes. The first entry that matches wins. Edits leave comments and order as they are.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date, timedelta
from pathlib import Path
from typing import Literal, TypeAlias, get_type_hints

import msgspec
import tomlkit
from packaging.version import InvalidVersion, Version

from corpus.causes.blamed import blamed_by_text
from corpus.causes.severity import Severity
from corpus.escapes import is_slug, one_line
from corpus.named_errors import naming
from corpus.regular_files import read_regular
from corpus.store import LONGEST_REASON, MOST_TEXT, UNREADABLE, why, write_atomically
from corpus.toml_text import in_lines, line_of, without_comments_below
from corpus.wanted import misfit
from generators.case import Tier

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMA = 1
SHIPPED = Path(__file__).parent / "known.toml"
"""The registry that comes with passfuzz, in a checkout and in an installed wheel."""
CASES = "cases"
"""The folder beside a registry that its cases are in."""
SHORTEST_QUOTE = 16
"""Characters that a quoted sentence has at least: a word is in messages of other causes too."""
STALE_DAYS = 30
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_NEW = f"""\
# Known causes. `passfuzz run --known` counts the findings of these as known; docs/triage.md says what the fields mean.
schema = {SCHEMA}
"""
_HEADER = re.compile(r"[ \t]*\[\[[ \t]*cause[ \t]*\]\][ \t]*(?:#.*)?\r?\n?")

Status: TypeAlias = Literal["open", "wont-fix", "limitation", "fixed-in"]
EntryValue: TypeAlias = str | bool | tuple[str, ...]
"""Of a field of an entry."""


@dataclass(frozen=True, slots=True)
class KnownCause:
    """An entry.

    cause: as `str(corpus.causes.cause.Cause)`, "" of a limit that is known by its quote alone; also: causes that a
    person has found to be the same bug. title: one line, as of an issue. versions: of TVM, on which it was seen. link:
    an issue or pull request. root: file:function in TVM's source. case: the folder in `cases` beside the registry that
    shows it. note: for people. quote: of a limit, the sentence of TVM's message that states it, at least SHORTEST_QUOTE
    characters. fixed_in: the version of TVM, where the status is "fixed-in". seen: the day it was last seen,
    "YYYY-MM-DD". tier: the best of all sightings. severity: "" where no person has said. passes: their names, the one
    to blame first. blames: whom the causes blame, () for no pass; None in entries of older versions and of people.
    why: whose fault it is, and how; fix: what would mend it; code in both stands between backticks.
    read: the source in `root` was read line by line. line: of the entry in its file, 0 where it is not known.
    """

    cause: str
    title: str
    status: Status = "open"
    also: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    link: str = ""
    root: str = ""
    case: str = ""
    note: str = ""
    quote: str = ""
    fixed_in: str = ""
    seen: str = ""
    tier: Tier = "B"
    severity: Severity | Literal[""] = ""
    passes: tuple[str, ...] = ()
    blames: tuple[str, ...] | None = None
    why: str = ""
    fix: str = ""
    read: bool = False
    line: int = 0

    @property
    def identity(self) -> str:
        """What tells it from other entries: its cause, or its quote where it has none."""
        return self.cause or self.quote

    def matches(self, cause: str, message: str) -> bool:
        """Whether a finding with this cause, of which TVM says `message`, is one of this entry."""
        if cause and cause in (self.cause, *self.also):
            return True
        return self.status == "limitation" and bool(self.quote) and self.quote in message

    def names(self, name: str) -> bool:
        """Whether it says that this pass is to blame, or one of its causes does."""
        blamed = blamed_by_text((self.cause, *self.also), name) if self.blames is None else name in self.blames
        return blamed or name in self.passes

    def is_fixed_in(self, version: str) -> bool:
        """Whether a TVM of this version has the fix; False where either version cannot be compared."""
        if self.status != "fixed-in":
            return False
        try:
            return Version(version) >= Version(self.fixed_in)
        except InvalidVersion:
            return False

    def is_stale(self, today: date) -> bool:
        """Whether it has matched nothing for STALE_DAYS days, or nothing yet. What is fixed is not expected to."""
        if self.status == "fixed-in":
            return False
        return not self.seen or date.fromisoformat(self.seen) < today - timedelta(days=STALE_DAYS)


class BadRegistry(Exception):
    """A registry that cannot be read; the text is one line: file, line, reason."""

    def __init__(self, path: Path, reason: str, line: int = 0) -> None:
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{one_line(where)}: {one_line(reason)[:LONGEST_REASON]}")


@dataclass(frozen=True, slots=True)
class Registry:
    """The entries in the order of the file. path: None for the empty one."""

    entries: tuple[KnownCause, ...] = ()
    path: Path | None = None

    def match(self, cause: str, message: str = "") -> KnownCause | None:
        """The first entry that a finding matches."""
        return next(self.matches(cause, message), None)

    def matches(self, cause: str, message: str = "") -> Iterator[KnownCause]:
        """Every entry that a finding matches, in the order of the file."""
        return (entry for entry in self.entries if entry.matches(cause, message))

    def stale(self, today: date) -> tuple[KnownCause, ...]:
        """The entries that have matched nothing for long."""
        return tuple(entry for entry in self.entries if entry.is_stale(today))

    @property
    def twice(self) -> tuple[str, ...]:
        """A line for each cause that several entries claim, of which the first counts."""
        lines: dict[str, list[str]] = {}
        for entry in self.entries:
            for cause in {entry.cause, *entry.also} - {""}:
                lines.setdefault(cause, []).append(str(entry.line))
        return tuple(
            one_line(f"{self.path}: lines {' and '.join(at)} claim one cause, the first counts: {cause}")
            for cause, at in lines.items()
            if len(at) > 1
        )

    @property
    def cases(self) -> Path | None:
        """The folder of its cases."""
        return None if self.path is None else self.path.parent / CASES

    @property
    def lost(self) -> str:
        """A line on the cases that its entries name and that are not there; "" where all are."""
        folder = self.cases
        named = [entry for entry in self.entries if entry.case]
        lost = [entry for entry in named if folder is not None and not (folder / entry.case).is_dir()]
        if not lost:
            return ""
        where = f"{self.path}, line {lost[0].line}" if lost[0].line else str(self.path)
        more = f"; {len(lost) - 1} more of {len(named)} {'is' if len(lost) == 2 else 'are'} not there either"
        return one_line(f"{where}: case: no folder {lost[0].case} in {folder}{more if len(lost) > 1 else ''}")


def cause_id(cause: str) -> str:
    """Eight digits for a cause, the same on every machine, to be typed where its text is too long."""
    return hashlib.sha256(cause.encode("utf-8", "backslashreplace")).hexdigest()[:8]


# --- reading --------------------------------------------------------------------------------------------


_FIELDS = {name: hint for name, hint in get_type_hints(KnownCause).items() if name != "line"}
"""The fields of an entry in a file, with their types."""


def _complaint(entry: KnownCause) -> str | None:
    """What is wrong with an entry beyond the types of its fields."""
    if not entry.title.strip():
        return "title: is empty"
    if not entry.cause and not (entry.status == "limitation" and entry.quote):
        return "cause: is empty; only a limitation may be known by its quote alone"
    for name, texts in (("also", entry.also), ("blames", entry.blames or ()), ("passes", entry.passes)):
        if "" in texts:
            return f"{name}: one is empty"
    if entry.read and not entry.why:
        return "read: is true, and why is empty"
    if entry.quote and len(entry.quote) < SHORTEST_QUOTE:
        return f"quote: shorter than {SHORTEST_QUOTE} characters, which matches too much"
    if entry.case and not is_slug(entry.case):
        return f"case: no name of a folder: {entry.case!r}"
    return _complaint_on_versions(entry)


def _complaint_on_versions(entry: KnownCause) -> str | None:
    if (entry.status == "fixed-in") != bool(entry.fixed_in):
        return 'fixed_in: is wanted where the status is "fixed-in", and only there'
    try:
        Version(entry.fixed_in or "0")
    except InvalidVersion:
        return f"fixed_in: no version: {entry.fixed_in!r}"
    return None if not entry.seen or _is_day(entry.seen) else f'seen: no day as "YYYY-MM-DD": {entry.seen!r}'


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return _DAY.fullmatch(text) is not None  # Python 3.11 reads other forms too


def read_registry(path: Path) -> Registry:
    """Reads a registry. Raises BadRegistry, and FileNotFoundError where there is none."""
    try:
        text = read_regular(path, MOST_TEXT).decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise BadRegistry(path, why(error)) from error
    return parse(path, text)


def parse(path: Path, text: str) -> Registry:
    """The registry that the text of a file is. Raises BadRegistry."""
    try:
        data = tomllib.loads(text)
    except UNREADABLE as error:
        raise BadRegistry(path, f"not TOML: {error}") from error
    entries = _tables(path, data)
    headers = [number for number, line in enumerate(io.StringIO(text), 1) if _HEADER.fullmatch(line)]
    lines = headers if len(headers) == len(entries) else [0] * len(entries)
    blocks = dict(_blocks(text))
    made = (
        _entry(path, number, line, blocks.get(line, "") if line else "", raw)
        for number, (line, raw) in enumerate(zip(lines, entries, strict=True), 1)
    )
    return Registry(tuple(made), path)


def _tables(path: Path, data: dict[str, object]) -> list[object]:
    if "schema" not in data:
        raise BadRegistry(path, f"no `schema = {SCHEMA}`: not a registry of causes")
    if data["schema"] != SCHEMA or isinstance(data["schema"], bool):
        raise BadRegistry(path, f"schema {data['schema']!r}; this passfuzz reads {SCHEMA}")
    if unknown := sorted(data.keys() - {"schema", "cause"}):
        raise BadRegistry(path, f"unknown field {unknown[0]!r}; entries begin with [[cause]]")
    entries = data.get("cause", [])
    if not isinstance(entries, list):
        raise BadRegistry(path, "entries begin with [[cause]]")
    return entries


def _entry(path: Path, number: int, line: int, block: str, raw: object) -> KnownCause:
    """The entry that a table is. block: its text, "" where that is not known."""

    def bad(complaint: str, name: str) -> BadRegistry:
        where = "" if line else f"entry {number}: "
        return BadRegistry(path, f"{where}{complaint}", line_of(name, block, line))

    if not isinstance(raw, dict):
        raise bad("no entry; entries begin with [[cause]]", "")
    if (wrong := misfit(raw, _FIELDS, "title")) is not None:
        raise bad(*wrong)
    entry = msgspec.convert({"cause": "", **raw, "line": line}, KnownCause)
    if (complaint := _complaint(entry)) is not None:
        raise bad(complaint, complaint.partition(":")[0])
    return entry


# --- writing --------------------------------------------------------------------------------------------


def add_entries(path: Path, entries: Iterable[KnownCause]) -> None:
    """Adds entries to a registry, whose comments and order stay; it is made if need be.

    Raises BadRegistry where it cannot be read, or could not be with the entries; OSError where it cannot be written.
    """
    added = "".join(f"\n{_block(entry)}" for entry in entries)
    _edit(path, lambda text: f"{text.rstrip()}\n{added}" if added else text)


def change_entries(path: Path, changes: Mapping[str, Mapping[str, EntryValue]]) -> None:
    """Sets fields of entries, which are named by their `identity`; an empty value removes the field. Comments and
    order stay. Raises as `add_entries`, and KeyError for an entry that is not there.
    """

    if not changes:
        return
    _edit(path, lambda text: _changed(path, text, changes))


def _changed(path: Path, text: str, changes: Mapping[str, Mapping[str, EntryValue]]) -> str:
    entries = {entry.identity: entry for entry in reversed(parse(path, text).entries)}
    wanted = {entries[identity].line: row for identity, row in changes.items()}
    if 0 in wanted:
        raise BadRegistry(path, "is edited only where each entry begins with a line [[cause]]")
    blocks = _blocks(text)
    return "".join(_changed_block(block, wanted.get(line, {})) for line, block in blocks)


def _blocks(text: str) -> list[tuple[int, str]]:
    """The text in parts that begin with the header of an entry, each with its first line; what is above them first."""
    lines = list(io.StringIO(text))
    starts = [number for number, line in enumerate(lines) if _HEADER.fullmatch(line)]
    ends = [*starts, len(lines)]
    parts = ((start + 1, "".join(lines[start:end])) for start, end in zip(starts, ends[1:], strict=True))
    return [(0, "".join(lines[: ends[0]])), *parts]


def _changed_block(block: str, row: Mapping[str, EntryValue]) -> str:
    """An entry with its fields set; comments below it stay below it."""
    if not row:
        return block
    body = without_comments_below(block)
    document = tomlkit.parse(body if body.endswith("\n") else f"{body}\n")
    table = document["cause"][0]
    for name, value in row.items():
        if value:
            table[name] = _item(name, value)
        else:
            table.pop(name, None)
    return tomlkit.dumps(document) + block[len(body) :]


def _block(entry: KnownCause) -> str:
    """A new entry as it stands in the file."""
    table, tables, document = tomlkit.table(), tomlkit.aot(), tomlkit.document()
    table.update(_row(entry))
    tables.append(table)
    document["cause"] = tables
    return tomlkit.dumps(document)


def _row(entry: KnownCause) -> dict[str, object]:
    """The fields of an entry that say something, in their order."""
    values = {field.name: (getattr(entry, field.name), field.default) for field in fields(entry)}
    always = ("title", "status", "tier")
    return {
        name: _item(name, value)
        for name, (value, default) in values.items()
        if name != "line" and (name in always or value not in ((None,) if default is None else (default, "", ())))
    }


def _item(name: str, value: EntryValue) -> object:
    """A value as tomlkit writes it: prose in several lines, other texts in one, to be searched for."""
    if isinstance(value, tuple):
        return list(value)
    return in_lines(value) if isinstance(value, str) and name in ("note", "why", "fix") else value


def _edit(path: Path, edit: Callable[[str], str]) -> None:
    """Reads, edits and writes a registry, while no other process does. What is written can be read."""
    with _held(path.parent):
        try:
            text = read_regular(path, MOST_TEXT).decode("utf-8-sig")
        except FileNotFoundError:
            text = _NEW
        except UNREADABLE as error:
            raise BadRegistry(path, why(error)) from error
        parse(path, text)
        made = edit(text)
        parse(path, made)
        write_atomically(path, made.encode())


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Holds a folder for one writer. The kernel lets go of the lock when the process ends."""
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
