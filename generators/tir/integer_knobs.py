"""The group of `TirKnobs` for functions that go through small ranges of integers (`integers.py`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntegerAxisKnobs:
    """Axes of the outputs."""

    extents: tuple[tuple[int, int], ...] = (
        (4, 4),
        (8, 6),
        (5, 4),
        (7, 4),
        (3, 3),
        (12, 3),
        (16, 3),
        (9, 2),
        (6, 3),
        (1, 2),
        (2, 3),
        (24, 1),
        (20, 1),
    )
    """(length of an axis, weight): small, so that all combinations are seen."""
    begins: tuple[int, ...] = (0, 0, 0, 0, 1, -1, -4, -7, 3, -8, 5, -2)
    """First values of an axis, 0 most of all; negative ones show which division is meant."""
    with_symbol: float = 0.2
    """The function has a symbolic extent."""
    symbol_parameter: float = 0.4
    """The symbol is a parameter, too."""
    symbolic_axis: float = 0.4
    """An axis is as long as the symbol."""
    fused: float = 0.15
    """Two axes are made of one loop."""
    unrolled: float = 0.1
    """A short loop is unrolled."""
    said: float = 0.15
    """An assertion or assumption states the range of an axis."""
    as_leaves: int = 2
    """Weight of each axis among the leaves of an expression: most rewrites are of terms of the axes."""


@dataclass(frozen=True, slots=True)
class IntegerStoreKnobs:
    """Values that are stored, and where."""

    dtypes: tuple[tuple[str, int], ...] = (
        ("int32", 9),
        ("int64", 6),
        ("int8", 2),
        ("int16", 2),
        ("uint8", 2),
        ("uint32", 2),
        ("uint16", 1),
        ("bool", 4),
    )
    """(dtype, weight) of stored expressions."""
    computed_index: float = 0.4
    """An index into a table is computed."""
    clamped: float = 0.3
    """It is brought into bounds by Min and Max, else by a modulus."""
    named: float = 0.3
    """A value of many expressions has a name, else it is repeated."""
    branch: float = 0.25
    """An output is stored in a branch."""
    likely: float = 0.2
    """Its condition is marked as likely."""
    reversed: float = 0.1
    """A dim of an output is stored in reverse."""
    flat: float = 0.25
    """An output is one row."""


@dataclass(frozen=True, slots=True)
class IntegerShapeKnobs:
    """Expressions with the shapes of rewrite rules."""

    divisors: tuple[int, ...] = (2, 3, 4, 8, 5, 7, 6, 1, 16)
    """Constant divisors of shapes."""
    factors: tuple[int, ...] = (2, 3, 4, 1, 5, -1, -2, -3, 8)
    """Constant factors of shapes."""
    large_constants: tuple[int, ...] = (
        127,
        100,
        1000,
        32767,
        65536,
        2**30,
        2**31,
        2**31 + 5,
        -(2**31) - 3,
        2**33,
        2**40,
    )
    """Numbers at the ends of dtypes."""
    tries: int = 8
    """Shapes tried: many overflow for the drawn operands."""
    chosen: float = 0.2
    """A value is chosen by a condition."""
    shaped: float = 0.85
    """An expression has a shape of a rewrite rule, else any."""
    comparison: float = 0.7
    """A condition is a comparison, else logic of several."""
    floor: float = 0.7
    """Divisions of a shape round down, else towards zero."""
    negative_divisor: float = 0.15
    """A divisor is negative."""
    compared_operand: float = 0.3
    """An operand is compared with another, else with a number."""
    computed_operand: float = 0.2
    """An operand of a shape is an expression."""
    same_dtype: float = 0.85
    """An operand has the dtype of the shape, where there is one: a cast would hide the shape."""
    large: float = 0.08
    """A constant is large."""


@dataclass(frozen=True, slots=True)
class IntegerKnobs:
    """Functions that go through small ranges of integers."""

    axes: IntegerAxisKnobs = IntegerAxisKnobs()
    stores: IntegerStoreKnobs = IntegerStoreKnobs()
    shapes: IntegerShapeKnobs = IntegerShapeKnobs()
