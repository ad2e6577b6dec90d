"""`passfuzz promote DIR`: the folder of a finding becomes a case of the corpus, and its cause an entry of the registry.

Nothing of the folder is run. A case of another user does not become one's own by it: see `_refuse_strangers`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import get_args

from corpus.causes.blamed import only
from corpus.escapes import is_slug, one_line
from corpus.promotion import copy_case, readable_slug
from corpus.registry import CASES, BadRegistry, KnownCause, Registry, Status, add_entries, cause_id, change_entries
from corpus.replayable import CORPUS
from corpus.store import CorruptCase, StoredCase, read_case
from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.known_causes import is_baseline, read_registry_of
from fuzzer.render import print_json
from fuzzer.trust import is_trusted
from generators.case import Tier
from reports.summary import UnreadableOut, read_findings

REPRO = "repro.py"


@dataclass(frozen=True, slots=True)
class Words:
    """What a person says of a cause. title: "" for that of the case. slug: of the new folder, "" for one that is made
    of the title. note, quote, fixed_in: as in the registry."""

    title: str = ""
    slug: str = ""
    status: Status = "open"
    note: str = ""
    quote: str = ""
    fixed_in: str = ""


def promote(
    folder: Path, registry: Path, words: Words, today: date, trust: bool = False, tier: Tier | None = None
) -> KnownCause:
    """Copies the case into `cases` beside the registry and adds the entry of its cause; the entry.

    A folder that is in `cases` already stays where it is. An entry of that cause which has no case gets this one. tier:
    of the cause; None for what the run says in whose OUT the folder lies. trust: whether a case of another user may
    join the corpus that comes with passfuzz. Raises UsageError, and EnvironmentFault where it cannot be written.
    """
    stored = _confirmed_case(folder)
    cause = stored.cause
    if not cause:
        raise UsageError(
            f"{folder}: the case has no cause, as an older passfuzz has written it; a new run finds it again"
        )
    entry = registry_to_edit(registry).match(cause)
    if entry is not None and entry.case:
        raise UsageError(f"{registry}, line {entry.line}: has the cause of {folder} already, with case {entry.case}")
    cases = registry.parent / CASES
    if not trust:
        _refuse_strangers(folder, cases)
    there = folder.resolve().parent == cases.resolve()
    slug = folder.resolve().name if there else _slug(words, stored, cases)
    made = _entry(stored, cause, slug, words, today, tier or _tier(folder))
    try:
        if not there:
            copy_case(folder, cases / slug)
        _write_entry(registry, entry, made, None if there else cases / slug)
    except CorruptCase as error:
        raise UsageError(str(error)) from error
    except (BadRegistry, OSError) as error:
        raise not_written(registry, error) from error
    return made if entry is None else replace(entry, case=slug)


def _confirmed_case(folder: Path) -> StoredCase:
    try:
        stored = read_case(folder)
    except CorruptCase as error:
        raise UsageError(str(error)) from error
    if not (folder / REPRO).is_file():
        raise UsageError(f"{folder}: has no {REPRO}: nothing has confirmed it")
    return stored


def _entry(stored: StoredCase, cause: str, slug: str, words: Words, today: date, tier: Tier) -> KnownCause:
    return KnownCause(
        cause=cause,
        blames=only(stored.blames),
        title=one_line(words.title or stored.title),
        status=words.status,
        versions=tuple(version for version, outcome in stored.expected if outcome == "fails"),
        link=stored.issue or "",
        case=slug,
        note=words.note,
        quote=words.quote,
        fixed_in=words.fixed_in,
        seen=today.isoformat(),
        tier=tier,
    )


def _write_entry(registry: Path, entry: KnownCause | None, made: KnownCause, copy: Path | None) -> None:
    """Adds `made`, or its case to the entry that is there. copy: the copied case, which goes where that fails."""
    try:
        if entry is None:
            add_entries(registry, [made])
        else:
            change_entries(registry, {entry.identity: {"case": made.case}})
    except (BadRegistry, OSError):
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)
        raise


def keep_in(folder: Path, corpus: Path, words: Words, trust: bool = False) -> Path:
    """Copies the case into a corpus of one's own, a folder of case folders; where it is then. No registry is written:
    `run --corpus` knows the findings of such a folder, and `replay` runs its scripts. trust: as in `promote`.

    Raises UsageError for what is no case with a script, and EnvironmentFault where it cannot be written.
    """
    stored = _confirmed_case(folder)
    try:
        if not trust:
            _refuse_strangers(folder, corpus)
        target = corpus / _slug(words, stored, corpus)
        copy_case(folder, target)
    except CorruptCase as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise EnvironmentFault(f"--corpus {one_line(corpus)}: cannot be written: {error.strerror or error}") from error
    return target


def keep_and_tell(folder: Path, corpus: Path, words: Words, registry: bool, trust: bool, as_json: bool) -> None:
    """The same, and says what was done. registry: whether the user names one, too. Raises UsageError for that."""
    if registry or words.title or words.note:
        raise UsageError("--corpus: a folder of cases has no registry; leave out --known, --title and --note")
    target = keep_in(folder, corpus, words, trust)
    if as_json:
        print_json({"case": str(target), "title": read_case(target).title})
    else:
        print(one_line(f"{target}: {read_case(target).title}"))


def promote_and_tell(folder: Path, registry: Path, words: Words, today: date, trust: bool, as_json: bool) -> None:
    """The same, and says what was done."""
    there = registry.exists()
    entry = promote(folder, registry, words, today, trust)
    if not there:
        tell(made_line(registry))
    if as_json:
        case = str(registry.parent / CASES / entry.case)
        print_json({"id": cause_id(entry.identity), "cause": entry.cause, "title": entry.title, "case": case})
    else:
        print(promoted_line(registry, entry))


def registry_to_edit(path: Path, option: str = "--known") -> Registry:
    """The registry that is to be edited; the empty one where there is none. Raises UsageError for a baseline."""
    try:
        if is_baseline(path):
            raise UsageError(f"{option} {path}: is a baseline of signatures, or named like one; a registry is a .toml")
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror or error}") from error
    return read_registry_of(path, option) if path.exists() else Registry(path=path)


def not_written(registry: Path, error: BadRegistry | OSError) -> UsageError | EnvironmentFault:
    """The error to raise where an edit failed."""
    if isinstance(error, BadRegistry):
        return UsageError(f"--known {error}")
    return EnvironmentFault(f"--known {one_line(registry)}: cannot be written: {error.strerror or error}")


def made_line(registry: Path) -> str:
    """What is said of a registry that was not there: its name may be misspelt."""
    return one_line(f"--known {registry}: was not there and is made")


def promoted_line(registry: Path, entry: KnownCause) -> str:
    """What was done, in one line."""
    return one_line(f"{cause_id(entry.identity)}: {registry.parent / CASES / entry.case}: {entry.title}")


def _refuse_strangers(folder: Path, cases: Path) -> None:
    """The corpus that comes with passfuzz is trusted whole: its scripts run without `--trust`."""
    if cases.resolve().is_relative_to(CORPUS.resolve()) and not is_trusted(folder):
        whose = "a case of another user, or one that was changed"
        raise UsageError(
            f"{folder}: {whose}; in the corpus of passfuzz its scripts would run as yours: --trust does it"
        )


def _slug(words: Words, stored: StoredCase, cases: Path) -> str:
    if not words.slug:
        return readable_slug(stored, cases)
    if not is_slug(words.slug):
        raise UsageError(f"--slug {one_line(words.slug)}: no name of a folder: letters, digits, _, . and - are allowed")
    if (cases / words.slug).exists():
        raise UsageError(f"--slug {words.slug}: {cases / words.slug} is there already")
    return words.slug


def _tier(folder: Path) -> Tier:
    """The tier that the run says, where the folder lies in its OUT; B else."""
    try:
        rows = read_findings(folder.absolute().parent.parent)
    except UnreadableOut:
        return "B"
    said = {row.tier for row in rows if row.signature == folder.name}
    return best_tier(said)


def best_tier(said: Iterable[str]) -> Tier:
    """The best of tiers that files say; B where they say none."""
    tiers: tuple[Tier, ...] = get_args(Tier)
    return next((tier for tier in tiers if tier in said), "B")
