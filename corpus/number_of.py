"""Numbers with the noun that they count, as a reader says them. Pure text."""

from __future__ import annotations


def number_of(number: int, noun: str, plural: str = "") -> str:
    """`1 case`, `2 cases`. plural: where it is not the noun with an "s"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
