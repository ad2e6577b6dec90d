"""What follows from the options of a campaign: the plan that its workers get, and the signatures that are not new."""

from __future__ import annotations

from pathlib import Path

from corpus.known import read_known
from corpus.replayable import replayable
from corpus.store import CorruptCase, StoredCase
from fuzzer.errors import UsageError
from fuzzer.protocol import Plan
from fuzzer.selection import PIPELINE_KINDS, named_passes
from fuzzer.settings import Settings


def plan_of(settings: Settings, scratch: Path) -> Plan:
    """What is sent to each worker once."""
    under_test = named_passes(settings.passes)
    kinds = PIPELINE_KINDS if "@pipelines" in settings.passes else ()
    return Plan(
        seed=settings.seed,
        targets=settings.targets,
        under_test=under_test,
        kinds=kinds,
        oracles=settings.oracles,
        load=str(settings.load.absolute()) if settings.load else None,
        scratch=str(scratch),
        corpus=str(settings.corpus.absolute()) if settings.corpus else None,
    )


def known_signatures(settings: Settings) -> frozenset[str]:
    """Signatures that are not new: those of the baseline file, and of the corpus cases that came from findings."""
    known: frozenset[str] = frozenset()
    if settings.known is not None:
        try:
            known = read_known(settings.known)
        except CorruptCase as error:
            raise UsageError(f"--known {error}") from error
    if settings.corpus is None:
        return known
    stored = [found.case for found in replayable(settings.corpus) if isinstance(found.case, StoredCase)]
    return known | {case.signature for case in stored if case.signature is not None}
