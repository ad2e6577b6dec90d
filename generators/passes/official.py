"""Which passes are those of an official pipeline, applied one by one in its order with its own constructors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from generators.case import PassCall, Tier
from generators.passes.row import PassRow, Phase
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, default_call
from generators.passes.traits import ActsWith, PreparedBy
from generators.targets import DEFAULT, TARGETS

_GROUPED = (Phase.ANNOTATED, Phase.GROUPED, Phase.FUSED)


@cache
def calls_of(pipeline: str) -> tuple[PassCall, ...]:
    """What an official pipeline of Relax applies, then what the build applies to its PrimFuncs, in order. Without the
    passes that change nothing under default options. KeyError for an unknown name."""
    names = (*PIPELINES[pipeline], *TIR_PIPELINE)
    return tuple(default_call(name) for name in names if not PASSES[name].has(ActsWith))


def official_name(calls: Sequence[PassCall], pipelines: Sequence[str]) -> str | None:
    """The first of the pipelines that begins with exactly these passes under default options; None where none does.

    Passes that change nothing under default options may be there or not. No pass at all begins every pipeline.
    """
    acting = tuple(call for call in calls if call != _idle(call.name))
    return next((name for name in pipelines if calls_of(name)[: len(acting)] == acting), None)


def tier_in_order(
    calls: Sequence[PassCall], table: Mapping[str, PassRow], pipelines: Sequence[str], phase: Phase = Phase.HIGH
) -> Tier:
    """The tier of the last of these passes, applied in order to a module of this phase: A where one of the pipelines
    begins with them, B where each is documented for the phase that it comes in, or prepares a later one that asks for
    it. KeyError for a pass of no row."""
    if phase is Phase.HIGH and official_name(calls, pipelines):
        return "A"
    for index, call in enumerate(calls):
        if any(call.name in table[later.name].named(PreparedBy) for later in calls[index + 1 :]):
            continue
        place = table[call.name].place
        if phase not in place.phases:
            return "C"
        phase = place.phase_after(phase)
    return "B"


def rest_of_pipeline(phase: Phase, target: str = DEFAULT) -> tuple[str, ...]:
    """The Relax passes that an official pipeline of the target still has for a module in this phase."""
    first, *others = TARGETS[target].pipelines
    names = PIPELINES[others[0] if others and phase in _GROUPED else first]
    if phase is Phase.HIGH:
        return names
    for start, name in enumerate(names):
        gives = PASSES[name].place.gives
        if gives is not None and gives > phase:
            return names[start:]
    return ()


def _idle(name: str) -> PassCall | None:
    """The default call of a pass that changes nothing under default options; None for any other pass."""
    row = PASSES.get(name)
    return default_call(name) if row is not None and row.has(ActsWith) else None
