"""Whom a finding blames: a pass by its name, a schedule with the primitives that reduction has left of it.

The printed form stands in signatures, causes and `case.json`. Rows of the pass table may end in a bracket too
(`s_tir.ThreadSync[shared]`), which is part of their name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.scripts.schedule import primitives_of
from generators.case import PassCall
from generators.passes.row import Role
from generators.passes.table import PASSES, the

_SCHEDULE = the(Role.SCHEDULES).name
_APPLY_TRACES = frozenset(row.name for row in PASSES.values() if row.role is Role.APPLIES_TRACES)
_OPENS, _BETWEEN, _CLOSES = "[", "+", "]"


@dataclass(frozen=True, slots=True)
class Blamed:
    """name: of the pass. primitives: of a schedule, each once, in order; None for any other pass, and for a schedule
    of which they are not known."""

    name: str
    primitives: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """As `s_tir.Schedule[split+rfactor]`, which `culprit_from` reads."""
        if self.primitives is None:
            return self.name
        return f"{self.name}{_OPENS}{_BETWEEN.join(self.primitives)}{_CLOSES}"

    @property
    def last(self) -> Blamed:
        """A schedule with its last primitive alone."""
        return Blamed(self.name, self.primitives and self.primitives[-1:])


def culprit_from(text: str) -> Blamed:
    """The culprit that a printed form names."""
    opening = f"{_SCHEDULE}{_OPENS}"
    if not (text.startswith(opening) and text.endswith(_CLOSES)):
        return Blamed(text)
    inside = text[len(opening) : -len(_CLOSES)]
    return Blamed(_SCHEDULE, tuple(inside.split(_BETWEEN)) if inside else ())


def writer_of(text: str) -> str:
    """The pass whose code writes into a module that the printed culprit was given: whoever applies a trace leaves that
    to the primitives."""
    name = culprit_from(text).name
    return _SCHEDULE if name in _APPLY_TRACES else name


def culprit_in(name: str, passes: Sequence[PassCall]) -> Blamed:
    """The pass of this name, with the primitives that the passes of a case leave of it if it is a schedule."""
    calls = [call for call in passes if call.name == name == _SCHEDULE]
    return Blamed(name, primitives_of(calls[0].source) if calls else None)


def schedule_of(primitive: str) -> Blamed:
    """The schedule of one primitive."""
    return Blamed(_SCHEDULE, (primitive,))
