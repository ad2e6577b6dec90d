"""How the edits of a step are tried: all that can go, the first that works, or by bisection. Pure: no TVM.

A strategy calls `attempt` with edits that are tried together, and says whether any was taken. What is taken stays
taken: later attempts add to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

E = TypeVar("E")
Attempt: TypeAlias = "Callable[[Sequence[E]], bool]"


def all_that_can_go(edits: Sequence[E], attempt: Attempt[E]) -> bool:
    """Takes every edit that can be taken: all at once, else in runs that grow while they are taken and halve while
    they are not.

    k edits that cannot be taken among n cost about 2 k log n attempts where k is small, and n where k is near n. Where
    a run is not taken but its first half is, something in the rest cannot be taken: that rest is not tried as a whole.
    """
    if len(edits) > 1 and attempt(edits):
        return True
    taken = False
    start, size, cannot = 0, max(1, len(edits) // 2), len(edits) if len(edits) > 1 else None
    while start < len(edits):
        size = min(size, len(edits) - start)
        if cannot is not None and start + size >= cannot:
            size = (cannot - start) // 2
            if not size:  # the one that is left is the one that cannot
                start, size, cannot = cannot, 1, None
                continue
        if attempt(edits[start : start + size]):
            taken, start, size = True, start + size, size * 2
        elif size > 1:
            cannot, size = start + size, size // 2
        else:
            start, size, cannot = start + 1, 1, None
    return taken


def first_that_works(edits: Sequence[E], attempt: Attempt[E]) -> bool:
    """Takes the first alternative that can be taken."""
    return any(attempt([edit]) for edit in edits)


def bisected(edits: Sequence[E], attempt: Attempt[E]) -> bool:
    """Takes an alternative such that the one before it cannot be taken, in about log n attempts.

    The edits are in order, those that remove most first. Where one can be taken usually all after it can be.
    """
    return _between(edits, 0, len(edits), attempt)


def galloped(edits: Sequence[E], attempt: Attempt[E]) -> bool:
    """As `bisected`, in about 2 log k attempts where the k-th alternative is the first that can be taken."""
    low, number = 0, 0
    while number < len(edits):
        if attempt([edits[number]]):
            _between(edits, low, number, attempt)
            return True
        low, number = number + 1, min(2 * number + 1, len(edits) - 1) if number < len(edits) - 1 else len(edits)
    return False


def _between(edits: Sequence[E], low: int, high: int, attempt: Attempt[E]) -> bool:
    taken = False
    while low < high:
        middle = (low + high) // 2
        if attempt([edits[middle]]):
            high, taken = middle, True
        else:
            low = middle + 1
    return taken
