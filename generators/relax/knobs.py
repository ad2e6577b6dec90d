"""Every size and ratio of the Relax generator, in one place, with the reason for its value."""

from __future__ import annotations

from dataclasses import dataclass

from generators.ranges import Range


@dataclass(frozen=True, slots=True)
class Knobs:
    """Sizes and probabilities of generated programs."""

    operators: tuple[int, int] = (1, 9)
    """Statements per function: bugs need few, and small programs are cheap to judge."""
    max_elements: int = 512
    """Largest tensor: big enough for every axis to be non-trivial at rank 5, small enough to interpret."""
    extents: tuple[tuple[int, int], ...] = (
        (1, 5),
        (2, 8),
        (3, 8),
        (4, 8),
        (5, 3),
        (6, 3),
        (8, 3),
        (7, 1),
        (0, 1),
    )
    """(extent, weight) of drawn dims; 0 and 1 are degenerate on purpose."""
    ranks: tuple[tuple[int, int], ...] = ((2, 8), (3, 5), (1, 5), (4, 4), (0, 2), (5, 1))
    """(rank, weight) of drawn tensors."""
    dtypes: tuple[tuple[str, int], ...] = (
        ("float32", 24),
        ("float16", 3),
        ("int32", 4),
        ("int64", 3),
        ("bool", 2),
        ("float64", 2),
        ("int8", 2),
        ("uint8", 2),
        ("bfloat16", 1),
        ("int16", 1),
    )
    """(dtype, weight) of drawn tensors; float32 is what most passes look for."""
    parameter_share: float = 0.8
    """A new operand is a parameter this often, else a constant."""
    special_share: float = 0.2
    """A constant holds one value throughout this often, one that is special to some operator."""
    constant_share: float = 0.15
    """A constant in scope counts as an operand this often where a value that is none would do."""
    fixed_share: float = 0.35
    """A call that depends on no parameter is kept this often: FoldConstant compiles each with LLVM, which costs as much
    as judging a whole case."""
    fresh_share: float = 0.12
    """A new operand is made this often though one in scope would do."""
    real_share: float = 0.2
    """Float contents are real numbers this often, else small whole numbers, on which most answers are exact."""
    large_share: float = 0.1
    """Integer contents are larger this often, so that products leave the narrow types."""
    output_share: float = 0.3
    """A value of a dataflow block is visible after it this often."""
    unused_output_share: float = 0.8
    """A value that nothing reads comes out of its block, and of its function, this often: else it is dead code."""
    symbolic_share: float = 0.15
    """A dim of a new parameter is symbolic this often, in functions that may have symbols."""
    guard_share: float = 0.3
    """A value out of an operator's domain is clipped into it this often, else another operand is taken."""


DEFAULT = Knobs()
WHOLE = Range(-3, 3, True)
LARGE = Range(-50, 50, True)
"""Integers whose products int8 does not hold."""
REAL = Range(-2.0, 2.0)
SPECIAL = (0, 1, -1, 2)
