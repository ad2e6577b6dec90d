"""The kinds of sequence of passes that a case may have: how often each is drawn, and who asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["single", "walk", "pipeline", "tir_pipeline", "walk_then_pipeline", "unusual", "schedule"]


@dataclass(frozen=True, slots=True)
class SequenceKind:
    """A kind of sequence. of_pipelines: `@pipelines` asks for it. in_contract: loaded passes get it too, whose
    contracts say where they may stand, so that odd orders prove nothing."""

    name: Kind
    weight: int
    of_pipelines: bool = False
    in_contract: bool = False


KINDS: tuple[SequenceKind, ...] = (
    SequenceKind("single", 43, in_contract=True),
    SequenceKind("walk", 25, in_contract=True),
    SequenceKind("walk_then_pipeline", 4, of_pipelines=True, in_contract=True),
    SequenceKind("pipeline", 4, of_pipelines=True, in_contract=True),
    SequenceKind("tir_pipeline", 3, of_pipelines=True),
    SequenceKind("unusual", 11),
    SequenceKind("schedule", 10),
)
"""The kinds of sequence. A pipeline costs as much as five single passes, that of TIR as twelve."""
OF_PIPELINES = tuple(kind.name for kind in KINDS if kind.of_pipelines)
IN_CONTRACT = tuple(kind.name for kind in KINDS if kind.in_contract)
