"""What a run counts as known: a registry of causes, and what stands beside it. No TVM here.

`--known FILE` names a registry (`corpus.registry`), or a baseline of signatures as older versions wrote them
(`corpus.signature_baseline`). The registry that comes with passfuzz is read where nothing is named, and nothing for
"none".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from typing_extensions import assert_never

from corpus.causes.blamed import only
from corpus.causes.cause import cause_of
from corpus.causes.signature import names_culprit, signature_of
from corpus.escapes import one_line
from corpus.registry import BadRegistry, KnownCause, Registry, cause_id, read_registry
from corpus.regular_files import read_regular
from corpus.replayable import replayable
from corpus.signature_baseline import read_known
from corpus.store import MOST_TEXT, CorruptCase, StoredCase
from fuzzer.errors import UsageError, tell
from fuzzer.protocol import Failure
from generators.case import Tier
from oracles.verdict import Failed
from reports.finding_row import KNOWN, FindingRow, Standing


@dataclass(frozen=True, slots=True)
class Known:
    """tvm: the version under test. registry: the causes. signatures: of findings that are known without a cause."""

    tvm: str
    registry: Registry = Registry()
    signatures: frozenset[str] = frozenset()

    def told(self, row: FindingRow, said: str = "") -> FindingRow:
        """The row with what is known of its cause. said: what TVM has printed beyond the row's message.

        The tier becomes the best of the row's and the entry's.
        """
        entry = self.entry_of(row, said)
        if entry is None:
            standing: Standing = "known" if row.signature in self.signatures else "new"
            return replace(row, standing=standing, known=standing in KNOWN)
        standing = self.standing(entry)
        return replace(
            row,
            standing=standing,
            known=standing in KNOWN,
            title=entry.title,
            link=entry.link,
            entry=cause_id(entry.identity),
            tier=min(row.tier, entry.tier),
        )

    def entry_of(self, row: FindingRow, said: str = "") -> KnownCause | None:
        """The entry that a finding matches. said: what TVM has printed beyond the row's message."""
        return self.registry.match(row.cause, _text(row, said))

    def standing(self, entry: KnownCause) -> Standing:
        """What an entry makes of a finding on this TVM."""
        match entry.status:
            case "open" | "wont-fix":
                return "known"
            case "limitation":
                return "limitation"
            case "fixed-in":
                return "returned" if entry.is_fixed_in(self.tvm) else "known"
            case _:
                assert_never(entry.status)

    def doubt(self, row: FindingRow, said: str = "") -> str:
        """A line where several entries match a finding; usually ""."""
        lines = [str(entry.line) for entry in self.registry.matches(row.cause, _text(row, said))]
        if len(lines) < 2:
            return ""
        where = f"{self.registry.path}: lines {' and '.join(lines)}"
        return one_line(f"{where} both match {row.signature}; the first counts")

    def looks_known(self, failure: Failure) -> bool:
        """Whether a failure is likely to reduce to what is known and not red: told before it is reduced, so a hint."""
        failed = Failed(
            failure.symptom, failure.message, failure.detail, failure.culprit, failure.evidence, failure.difference
        )
        if signature_of(failure.oracle, failed, failure.culprit).slug in self.signatures:
            return True
        cause = str(cause_of(failure.oracle, failed, failure.culprit))
        entry = self.registry.match(cause, f"{failure.message}\n{failure.detail}")
        return entry is not None and self.standing(entry) in KNOWN

    def new_tiers(self, failures: Iterable[Failure], loaded: Sequence[str]) -> tuple[Tier, ...]:
        """The tiers of failures of which nothing known names the pass. loaded: the passes that are the user's own."""
        own = (failure for failure in failures if failure.culprit in loaded)
        return tuple(sorted({failure.tier for failure in own if self._is_silent_on(failure)}))

    def _is_silent_on(self, failure: Failure) -> bool:
        """Whether nothing here names the culprit, or a limit that the failure states."""
        name = failure.culprit
        if any(names_culprit(slug, name) for slug in self.signatures):
            return False
        named = any(entry.names(name) and self.standing(entry) in KNOWN for entry in self.registry.entries)
        return not (named or self.looks_known(failure))


def _text(row: FindingRow, said: str) -> str:
    return f"{row.message}\n{said}"


def is_baseline(path: Path) -> bool:
    """Whether a file is a baseline of signatures, which is JSON; one that is not there yet is one by its name.

    Raises OSError where it cannot be read.
    """
    try:
        return read_regular(path, MOST_TEXT).lstrip().startswith(b"{")
    except FileNotFoundError:
        return path.suffix == ".json"


def read_registry_of(path: Path, option: str = "--known") -> Registry:
    """The registry in a file. Raises UsageError, which names the option, the file, the line and the reason."""
    try:
        return read_registry(path)
    except BadRegistry as error:
        raise UsageError(f"{option} {error}") from error
    except FileNotFoundError:
        raise UsageError(f"{option} {path}: no such file") from None


def warn_of_lost_cases(registry: Registry, option: str = "--known") -> None:
    """A line on stderr where entries name cases that are not beside the registry. They are known all the same."""
    if lost := registry.lost:
        tell(f"warning: {option} {lost}")


def read_known_causes(known: Path | None, tvm: str, corpus: Path | None = None, option: str = "--known") -> Known:
    """What a run on a TVM of this version counts as known. known: a file, None for none. corpus: the folder of
    `--corpus`, whose cases are known too. Warns of cases that are not there. Raises UsageError.
    """
    registry, signatures = Registry(), frozenset[str]()
    if known is not None:
        try:
            if is_baseline(known):
                signatures = read_known(known)
            else:
                registry = read_registry_of(known, option)
                warn_of_lost_cases(registry, option)
        except CorruptCase as error:
            raise UsageError(f"{option} {error}") from error
        except OSError as error:
            raise UsageError(f"{option} {known}: {error.strerror or error}") from error
    if corpus is None:
        return Known(tvm, registry, signatures)
    stored = [(found.slug, found.case) for found in replayable(corpus) if isinstance(found.case, StoredCase)]
    by_signature = frozenset(case.signature for _, case in stored if case.signature is not None and case.cause is None)
    return Known(tvm, _with_cases(registry, stored), signatures | by_signature)


def _with_cases(registry: Registry, stored: Sequence[tuple[str, StoredCase]]) -> Registry:
    """The registry with an entry for each case whose cause is in none."""
    more = tuple(
        KnownCause(case.cause, case.title, blames=only(case.blames), case=slug, link=case.issue or "")
        for slug, case in stored
        if case.cause and registry.match(case.cause) is None
    )
    return replace(registry, entries=(*registry.entries, *more))
