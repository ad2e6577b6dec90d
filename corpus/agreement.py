"""Whether a registry of known causes and the cases beside it are one thing: each open cause has a case, each case an
entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corpus.registry import Registry
from corpus.replayable import Replayable, replayable
from corpus.store import StoredCase


@dataclass(frozen=True, slots=True)
class Lack:
    """what: an open cause without a case; an entry whose case is not there, or has another cause; a case without a
    cause; a case whose cause is in no entry. name: of the case's folder, or the title of the entry."""

    what: Literal["no case", "case not there", "another cause", "no cause", "no entry"]
    name: str


def lacks(registry: Registry, cases: Path) -> tuple[Lack, ...]:
    """Where they do not agree, cases first. Cases that cannot be read are left out: replaying says why."""
    found = {one.slug: one for one in replayable(cases)} if cases.is_dir() else {}
    return (*_of_cases(registry, found), *_of_entries(registry, found))


def _of_cases(registry: Registry, found: dict[str, Replayable]) -> Iterator[Lack]:
    for slug, one in found.items():
        if not isinstance(one.case, StoredCase):
            continue
        if not one.case.cause:
            yield Lack("no cause", slug)
        elif registry.match(one.case.cause) is None:
            yield Lack("no entry", slug)


def _of_entries(registry: Registry, found: dict[str, Replayable]) -> Iterator[Lack]:
    for entry in registry.entries:
        if not entry.case:
            if entry.status == "open":
                yield Lack("no case", entry.title)
            continue
        case = found[entry.case].case if entry.case in found else None
        if case is None:
            yield Lack("case not there", entry.title)
        elif isinstance(case, StoredCase) and case.cause and not entry.matches(case.cause, case.message):
            yield Lack("another cause", entry.title)
