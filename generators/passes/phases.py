"""The ranges of phases that rows of the pass table stand in.

What a single pass promises is in the `relax_*` modules; how its result is called is in `oracles.calls.table`.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.passes.row import Phase
from generators.program_facts import Feature, ProgramFacts
from generators.source import Source


def span(first: Phase, last: Phase) -> frozenset[Phase]:
    """The phases from `first` to `last`, both inclusive."""
    return frozenset(phase for phase in Phase if first <= phase <= last)


def at(*phases: Phase) -> frozenset[Phase]:
    """These phases."""
    return frozenset(phases)


HIGH = at(Phase.HIGH)
GRAPH = span(Phase.HIGH, Phase.FUSED)
"""While there are dataflow blocks."""
UNMEMORIED = span(Phase.HIGH, Phase.NONDATAFLOW)
"""While every call is a function of its operands: before destination passing brings in mutation."""
CALL_TIR = span(Phase.LEGAL, Phase.FUSED)
"""Operators are call_tir, and there are dataflow blocks."""


def only_with(feature: Feature, *texts: str) -> Callable[[Source, ProgramFacts], str | None]:
    """Draws one of `texts` for programs that have the feature, None for others."""

    def draw(source: Source, facts: ProgramFacts) -> str | None:
        return source.pick(texts) if feature in facts.features else None

    return draw
