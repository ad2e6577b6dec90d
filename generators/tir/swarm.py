"""Which unusual kinds of statement and expression a function without blocks may hold.

Swarm testing (Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012): the features that a test leaves out matter as much as
those that it holds. Passes over loops give up at many unusual statements, so that a function with a bit of everything
shows nothing of their work.
"""

from __future__ import annotations

from enum import Enum, auto

from generators.source import Source
from generators.tir.knobs import TirKnobs


class Unusual(Enum):
    """Kinds that many passes over loops leave alone, together with the loops around them."""

    LET = auto()
    BIND = auto()
    VIEW = auto()
    VECTOR = auto()
    JUMP = auto()
    WHILE = auto()
    ASSERT = auto()
    LIKELY = auto()
    LAZY = auto()
    """if_then_else in values, and reads under it: a call that evaluates only one side."""
    ROOT = auto()
    """The root block around the loops."""
    STEP = auto()
    """Loops with a step."""
    TRIANGLE = auto()
    """Loops as long as the variable of another."""
    INDEX = auto()
    """Indices that are any arithmetic on loop variables, brought into their bounds."""
    PARALLEL = auto()
    UNROLLED = auto()
    """Loops that are unrolled, or annotated to be."""


EVERY = frozenset(Unusual)


def draw_unusual(source: Source, knobs: TirKnobs) -> frozenset[Unusual]:
    """The unusual kinds of one function: none in a plain one, else each on its own."""
    if source.flip(knobs.forms.plain):
        return frozenset()
    return frozenset(kind for kind in Unusual if source.flip(knobs.forms.unusual))
