"""Which rows of a long parametrised test run in every `make test`; the others are deep."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def one_in(number: int, rows: Iterable[object]) -> list[object]:
    """The rows of `parametrize`, all deep but the first and each `number`-th after it. A row is a value, or a tuple of
    those of several arguments."""
    marked = ((row, () if place % number == 0 else (pytest.mark.deep,)) for place, row in enumerate(rows))
    return [pytest.param(*(row if type(row) is tuple else (row,)), marks=marks) for row, marks in marked]
