"""A live case: a module with what is done to it. Worker processes only; a stored one is `generators.case.Case`."""

from __future__ import annotations

from dataclasses import dataclass

from generators.case import EntryCall, PassCall, Tier
from generators.tvm_api import IRModule


@dataclass(frozen=True, slots=True)
class Experiment:
    """A module, its entry calls, the passes that bring it to a phase (setup) and those that are judged, with the tier
    of each of these."""

    index: int
    module: IRModule
    calls: tuple[EntryCall, ...]
    setup: tuple[PassCall, ...]
    passes: tuple[PassCall, ...]
    tiers: tuple[Tier, ...]

    @property
    def widest_tier(self) -> Tier:
        """The least official tier of the passes: A only where every one is a step of an official pipeline."""
        return max(self.tiers, default="A")
