"""The group of `TirKnobs` for functions of kernels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelKnobs:
    """Functions of kernels."""

    kernels: tuple[int, int] = (1, 3)
    """Kernels of a function."""
    together: float = 0.3
    """The threads of a kernel work together, which takes barriers."""
    threads: tuple[tuple[int, int], ...] = ((4, 4), (8, 6), (16, 4), (32, 3), (2, 2), (5, 1), (64, 1))
    """(threads of a block, weight): small, so that small tensors take several blocks."""
    few_threads: tuple[tuple[int, int], ...] = ((2, 4), (4, 4), (3, 2), (1, 1))
    """The same where a thread makes several elements."""
    tile_side: tuple[tuple[int, int], ...] = ((2, 2), (4, 4), (8, 3))
    """(threads along one side of a block of two dims, weight)."""
    longest_row: int = 64
    """Most threads of a block that holds a whole row."""
    changed_again: float = 0.25
    """A kernel changes a tensor that an earlier one wrote."""
    between: float = 0.3
    """A tensor is no output, but read by the next kernels."""
    tries: int = 4
    """Kinds of kernel tried before the plainest is taken."""
    needless_guard: float = 0.15
    """A thread asks whether it has work though it always has."""
    summed: float = 0.4
    """A thread adds up in a loop."""
    turns: tuple[int, int] = (2, 5)
    """Iterations of such a loop, and of one in which threads work together."""
    value_tries: int = 8
    """Values drawn for one that shows all of its operands."""
    share_for_barriers: float = 0.8
    """Functions are of kernels for passes after those that insert barriers."""
    together_for_barriers: float = 0.7
    """Threads of a kernel work together, for the same passes."""
