"""What follows from the options of a campaign: the plan that its workers get."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from fuzzer.protocol import Plan
from fuzzer.selection import named_passes
from fuzzer.settings import Settings
from generators.passes.sequence_kinds import OF_PIPELINES

MakesPlan: TypeAlias = Callable[[Settings, Path], Plan]
"""Of a campaign with these settings, whose scratch folder that is."""


def plan_of(settings: Settings, scratch: Path) -> Plan:
    """What is sent to each worker once."""
    under_test = named_passes(settings.passes)
    kinds = OF_PIPELINES if "@pipelines" in settings.passes else ()
    return Plan(
        seed=settings.seed,
        targets=settings.targets,
        under_test=under_test,
        kinds=kinds,
        oracles=settings.oracles,
        often=bool(settings.oracles),
        load=str(settings.load.absolute()) if settings.load else None,
        scratch=str(scratch),
        corpus=str(settings.corpus.absolute()) if settings.corpus else None,
        trust=settings.trust,
    )
