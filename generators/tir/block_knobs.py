"""The groups of `TirKnobs` for functions of blocks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockKnobs:
    """Blocks and the tensors between them."""

    tries: int = 6
    """Kinds of stage tried before an elementwise one is taken."""
    newest: float = 0.6
    """A stage reads the newest tensor, so that stages form chains."""
    output: float = 0.15
    """A stage that is not the last writes an output."""
    unread_shown: float = 0.6
    """A tensor that no block reads becomes an output: else a wrong value in it is not seen."""
    strides: float = 0.12
    """A buffer has strides of its own."""
    reversed_dims: float = 0.15
    """An elementwise block has the dims of its operand in reverse."""
    turned: float = 0.12
    """A block goes through its axes in another order than that of the dims it stores to."""
    flat: float = 0.3
    """A reshape gives one dim."""
    local: float = 0.12
    """A buffer between blocks has the scope "local": on a GPU each thread then has its own."""
    inexact: float = 0.15
    """An output is computed by an elementary function: then the answer is not exact."""


@dataclass(frozen=True, slots=True)
class BlockReductionKnobs:
    """Reductions and matrix products."""

    unit_reduction: float = 0.1
    """A reduction goes over one axis of length one."""
    biased: float = 0.12
    """A reduction does not begin at its neutral element, as after `fuse_reduction_epilogue`."""
    widest_accumulator: float = 0.4
    """A reduction accumulates in its widest dtype, as most models do."""
    reduced_expression: float = 0.3
    """An expression is reduced, else an element."""
    matmul_transposed: float = 0.4
    """The right factor of a product is transposed."""
    matmul_mixed: float = 0.7
    """A product of 8-bit integers mixes signs, as intrinsics want it."""
    whole_bias: float = 0.3
    """A bias has all dims, else one."""


@dataclass(frozen=True, slots=True)
class BlockLoopKnobs:
    """Loops around a block."""

    shaped: float = 0.25
    """Loops around a block are split, fused or shifted; else there is one for each axis."""
    step: float = 0.4
    """A loop that is shaped for its axis has a step."""
    kind: float = 0.15
    """A loop around a block is parallel, vectorized or unrolled, where that is allowed."""
    fused: float = 0.25
    """Two axes share a loop."""
    reversed: float = 0.3
    """The loops stand in reverse."""
    annotated: float = 0.04
    """A loop has pragmas of unrolling."""


@dataclass(frozen=True, slots=True)
class PartKnobs:
    """Blocks that cover a part of the tensor that they write."""

    share: float = 0.18
    """A block covers a part of the tensor that it writes, where that is allowed: its loops do not begin at 0."""
    second: float = 0.25
    """A second axis is cut."""
    over_whole: float = 0.6
    """The rest is written before, with all of the tensor, else by blocks of its own."""
    reducing_factor: float = 2.0
    """A block that reduces covers a part so many times as often: its init has to, too."""
    plain_loops: float = 0.65
    """The loops of a part are the simplest there are: many passes know no others."""
    to_the_end: float = 0.4
    """A part goes to the end of the axis."""
    not_from_the_beginning: float = 0.8
    """A part begins after the first element."""


@dataclass(frozen=True, slots=True)
class MultiReadKnobs:
    """Blocks that read one tensor at several indices."""

    share: float = 0.35
    """A block reads a tensor of an earlier block at several indices at once, where that is allowed."""
    shorter: float = 0.4
    """An axis stops short of its dim, which leaves room for neighbours."""
    paired: float = 0.2
    """One dim has two axes, so that its elements meet in pairs."""
    transposed: float = 0.3
    """A further read is transposed."""
    tries: int = 8
    """Further reads tried: many are equal to one before."""
    neighbour: int = 12
    """Weight of a neighbour, where there is room, among the indices of a further read: the most common, as in
    stencils."""
    other: int = 6
    """Weight of another axis that fits the dim."""
    backwards: int = 4
    """Weight of the axis from the end."""
    constant: int = 4
    """Weight of a number."""
    joins: tuple[str, ...] = ("sub", "sub", "add", "mul", "max", "min")
    """What joins two reads: the difference twice, since it is another number when the reads are swapped."""


@dataclass(frozen=True, slots=True)
class LikewiseKnobs:
    """Two blocks alike."""

    differs: float = 0.85
    """They differ in a choice: a pass that takes them for equal is wrong."""
    anew: float = 0.01
    """Then each other choice is made anew all the same, but for the first third: these say what the block reads."""
    tries: int = 4
    """Second blocks tried for one that differs: half of the choices change nothing."""
    biased: float = 0.6
    """They begin at an init that is not neutral, where they reduce: it may be what they differ in."""
    output: float = 0.05
    """Each writes an output: passes that put blocks together leave those alone."""
