"""A tolerance of the user's own, instead of the bounds of the reference. No TVM here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A float may be off by atol + rtol * |value of the reference|. This decides what rounding leaves
    undecided, too; what TVM leaves open (`oracles.reference.left_open`) stays unjudged."""

    rtol: float = 0.0
    atol: float = 0.0

    def __str__(self) -> str:
        return f"rtol {self.rtol:g}, atol {self.atol:g}, as asked"
