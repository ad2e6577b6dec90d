"""The ranges of phases that rows of the pass table stand in, and the calling conventions that they name.

What a single pass promises is in the `relax_*` modules; how a result is called is in `oracles.calls.conventions`.

Calling conventions (`Promise.calling`):

same                    every public function that was there takes and returns what it did. Private functions may have
                        changed in any way, and public functions may have been added.
lift_transform_params   a function with `num_input` n keeps its first n parameters; the others become what
                        `<name>_transform_params` returns when called with the tuple of the old ones. With
                        shared_transform there is one `transform_params` for all functions.
bundle_params           the parameters after `num_input` become one tuple parameter.
lazy_get_input          the parameters after `num_input` become one callback (index, name) -> value, the last parameter.
lazy_set_output         a last parameter is added, a callback (index, value); the function returns an empty tuple and
                        has given every output to the callback once.
lazy_transform_params   `*transform_params` functions take no parameter after `num_input` but the shapes, call the
                        packed functions get_item(index) and set_item(index, value), and return an empty tuple.
bind_params             the parameters named in the source's dict are gone. Their values are those of the first entry
                        call of the function that the source names: calls compare only where they agree with it.
bind_symbolic_vars      the same parameters, whose symbolic dims named in the source's dict are now constants (also the
                        first entry call's): entry calls with other extents do not compare.
unknown                 nothing is known; only the input of the pass and of its output's own form can be judged.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.passes.row import Feature, Phase, ProgramFacts
from generators.source import Source

CONVENTIONS: tuple[str, ...] = (
    "same",
    "lift_transform_params",
    "bundle_params",
    "lazy_get_input",
    "lazy_set_output",
    "lazy_transform_params",
    "bind_params",
    "bind_symbolic_vars",
    "unknown",
)


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
