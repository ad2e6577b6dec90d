"""The groups of `TirKnobs` that concern all functions, each ratio with its reason.

Weights of kinds of statement, stage or primitive stand in the tables of those kinds. What is for one form of function
alone is in `block_knobs.py`, `loop_knobs.py`, `kernel_knobs.py` and `integer_knobs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormKnobs:
    """Kinds of function."""

    symbolic: float = 0.25
    """A function has symbolic extents."""
    opaque: float = 0.4
    """A function has loops only, without blocks."""
    plain: float = 0.5
    """A function without blocks holds nothing unusual: most passes over loops skip loops with statements that they do
    not know. One half is for passes that optimise loops, the other for those that lower them."""
    unusual: float = 0.6
    """In the others, an unusual kind may be drawn (see `swarm.py`): several kinds meet, rarely all."""
    rooted: float = 0.5
    """The loops of a function without blocks stand in one block, where that is allowed, as those of a packed kernel
    do."""
    of_tirx: float = 0.15
    """A function without blocks lacks the attribute s_tir, so that TVM verifies it as plain TIRx: in most modules both
    dialects meet."""
    kernel: float = 0.6
    """A function for a target with threads is of kernels: TVM's schedules give a small tensor one block."""
    integer: float = 0.2
    """A function in a module of several goes through small ranges of integers: see `integers.py`."""
    dead: float = 0.15
    """The module has a private function without callers."""


@dataclass(frozen=True, slots=True)
class InputKnobs:
    """Parameters of a PrimFunc."""

    ranks: tuple[tuple[int, int], ...] = ((2, 8), (1, 4), (3, 3), (0, 1))
    """(rank, weight) of the first input: two dims are enough for most rules."""
    symbol_parameter: float = 0.3
    """A symbolic extent is a parameter of its own as well."""
    dim_kept: float = 0.8
    """A further input has each dim of the first."""
    positions: float = 0.15
    """There is an input of integers that can be indices."""
    offset: float = 0.05
    """An input has an offset that is the caller's, which few passes expect."""
    strides: float = 0.05
    """An input has strides that are the caller's."""
    noalias: float = 0.85
    """The function promises that its buffers do not overlap, as all that TVM makes do."""
    large: float = 0.2
    """Integers and float64 are large, so that products leave the narrow types."""
    special: float = 0.08 / 3
    """Of each of three float dtypes, an input holds NaN, infinities, signed zeros and subnormals: 0.08 of functions
    have one."""
    fraction: float = 0.3
    """A float input holds halves or quarters, else whole numbers: casts to integers then have to cut."""


@dataclass(frozen=True, slots=True)
class ExpressionKnobs:
    """Expressions over values in scope."""

    flag_in_scope: float = 0.3
    """A condition is a bool in scope, where there is one."""
    logic: float = 0.3
    """A condition is made of others."""
    no_value_in_scope: float = 0.15
    """A leaf is converted or constant though a value of the dtype is in scope."""
    same_operand: float = 0.1
    """A value in scope is on both sides of an operator: most such results are constants."""
    compared_near: float = 0.5
    """A number is compared with one that it may be, so that the answer is not always the same."""
    lowered_dividend: float = 0.3
    """A number that is never negative is made so before it is divided: kinds of division then differ."""
    large_constant: float = 0.1
    """A constant is large: narrow types do not hold it."""
    half: float = 0.2
    """A float constant is no whole number."""
    constant_shift: float = 0.7
    """A shift is by a constant."""
    constant_divisor: float = 0.7
    """A divisor is a constant: rewrite rules match those."""
    negative_divisor: float = 0.25
    """A constant divisor is negative."""
    likely: float = 0.1
    """A condition is marked as likely, where that may be."""
    constants_in_a_row: tuple[int, int] = (2, 4)
    """Numbers that a value is moved by, one after the other."""


@dataclass(frozen=True, slots=True)
class ReadKnobs:
    """Elements that a block or a statement reads."""

    straight: float = 0.7
    """All indices are axis variables where they can be."""
    straight_reduced: float = 0.85
    """The same in a reduction, whose rules know few other indices."""
    straight_odd: float = 0.5
    """The same in a function without blocks that may have odd indices."""
    left_in_bounds: float = 0.8
    """An index that is in bounds is left as it is, else bounded all the same."""
    reversed: int = 3
    """Weight of an axis as long as the dim, from its end, among the indices that are no axis variable."""
    wrapped: int = 3
    """Weight of arithmetic on the axes, brought into bounds by a modulus."""
    clamped: int = 2
    """Weight of the same, brought into bounds by Min and Max."""
    guarded: int = 2
    """Weight of a neighbour under a test that there is one, in a function with lazy conditions."""
    gathered: int = 2
    """Weight of an index that is read from a tensor, where one holds positions."""
    constant: int = 1
    """Weight of a number: the least, as it reads one element for all."""


@dataclass(frozen=True, slots=True)
class ScheduleKnobs:
    """Random schedules."""

    steps: tuple[int, int] = (1, 5)
    """Primitives that a schedule asks for."""
    steps_after: tuple[int, int] = (1, 3)
    """The same after the steps that a schedule begins with."""
    planted: float = 0.85
    """A schedule begins with a primitive for which the function was drawn."""
    planted_weight: int = 3
    """Weight of a primitive that asks for certain stages, among those that a schedule begins with: the others, of
    weight 1, have a place in most functions and are taken as further steps."""
    planted_tries: int = 5
    """Functions drawn until one holds what a primitive asks for."""
    plain_loops: float = 0.7
    """The loops of blocks that are drawn for a primitive are the simplest there are: several primitives know no
    others."""
    insistence: int = 4
    """Places tried for the primitive that a schedule begins with."""
    patience: int = 6
    """Rows tried for a step before the schedule ends."""
    flag: float = 0.2
    """A flag of a primitive is not its default."""
    unit_loops: float = 0.4
    """compute_at says whether unit loops stay."""
    index: float = 0.2
    """compute_at names the position among the blocks."""
    padded: float = 0.4
    """A layout transform splits a dim by what does not divide it, and pads."""
    several: float = 0.5
    """blockize makes one block of two neighbours, where there are any."""
    three_parts: float = 0.4
    """loop_partition makes three parts, else two."""
    three_loops: float = 0.3
    """fuse joins three loops, else two."""
    loop_left_out: float = 0.3
    """reorder leaves out a loop of a chain."""
