"""The ratios of the contents of arrays, with the reason for each value. `generators.arrays` fills by them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArrayKnobs:
    """Input arrays and constants."""

    special: float = 0.3
    """The share of the arrays that may hold NaN, infinities or subnormal numbers which do: most must stay comparable
    by value."""
    special_meant: float = 0.7
    """The same for parameters that were drawn for them."""
    special_elements: float = 0.15
    """The share of their elements that are special: few, so that most sums are still numbers."""
    minus_zeros: float = 0.1
    """The share of the arrays of floats in which zeros have a minus sign: it shows in a division or an atan2 alone."""
    minus_zero_elements: float = 0.5
    """The share of their zeros that do, so that zeros of both signs meet."""
    ends: float = 0.6
    """The share of the elements of a whole integer type that are its ends, next to them, or around zero: what
    overflows, and what divides."""


KNOBS = ArrayKnobs()
