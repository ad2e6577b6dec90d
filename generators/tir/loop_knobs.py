"""The groups of `TirKnobs` for functions without blocks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindKnobs:
    """Kinds of statement."""

    tries: int = 5
    """Kinds of statement tried before a nest is taken."""
    kind_again: float = 0.2
    """A statement is of the kind of the one before it: loops stand beside loops."""


@dataclass(frozen=True, slots=True)
class BufferKnobs:
    """Buffers that are allocated, filled and shown."""

    register: float = 0.35
    """An allocated buffer has one element: such buffers pass values between loops and branches."""
    few_elements: int = 4
    """With fewer elements, stores overwrite each other before any read."""
    like_another: float = 0.6
    """A tensor has the dims of another one, so that loops over both can be joined."""
    like_a_register: float = 0.2
    """The same of one with few elements."""
    local: float = 0.3
    """An allocated buffer has the scope "local"."""
    shown: float = 0.85
    """The contents of an allocated buffer are copied to an output: else no one sees them."""
    constant_fill: float = 0.2
    """A buffer is filled with one number, as accumulators are."""
    fill_kind: float = 0.2
    """A loop that fills a buffer is parallel or vectorized, where it may be."""
    masked: float = 0.2
    """A function with floats ends with one of them masked."""
    mask_kept: float = 0.7
    """A mask keeps elements where it is true."""
    view: float = 0.2
    """A second buffer on the memory of another is declared after a statement."""
    view_strided: float = 0.5
    """A view has strides of its own: it shows a part of each row, columns as rows, or every other element."""


@dataclass(frozen=True, slots=True)
class LoopKnobs:
    """Loops, and what their bodies begin with."""

    unit_loop: float = 0.4
    """In a root block, all statements stand in one loop of one iteration."""
    same_header: float = 0.5
    """A loop counts over the same numbers as the one before it."""
    counts_dim: float = 0.6
    """Else it counts over a dim."""
    unrolled: float = 0.2
    """A short loop is unrolled."""
    unroll_annotated: float = 0.05
    """A loop has the pragma that unrolls explicitly."""
    iterations_skipped: float = 0.5
    """A loop begins with a test that skips the iteration, in a function with jumps."""
    part_of_iterations: float = 0.15
    """The body of a loop is for a part of its iterations, as those of stencils at borders."""
    other_iterations: float = 0.4
    """The others do something else, instead of nothing."""
    while_on_data: float = 0.4
    """A while asks data, too."""
    counter_readable: float = 0.5
    """The number that a loop counts by is read after it."""
    recurrence_forward: float = 0.7
    """A recurrence reads earlier elements, else later ones."""


@dataclass(frozen=True, slots=True)
class BranchKnobs:
    """Branches and their conditions."""

    two_sides: float = 0.35
    """A branch has two sides."""
    else_if: float = 0.35
    """The other side has a condition as well: one that was asked before."""
    twice: float = 0.2
    """A branch is followed by one on the same condition."""
    condition_again: float = 0.35
    """A condition is one that was drawn before: real code asks the same question again."""
    condition_of_loop: float = 0.5
    """A condition in a loop is one of a loop variable, as guards at borders are."""
    condition_of_innermost: float = 0.5
    """It is the variable of the innermost loop."""
    condition_joined: float = 0.4
    """A condition is joined with another."""


@dataclass(frozen=True, slots=True)
class ElementKnobs:
    """Elements that statements read and store."""

    touched_again: float = 0.4
    """A value reads an element touched just before, so that the order of stores matters; indices are those of the
    last touch of the tensor."""
    remembered: int = 4
    """Elements that a site remembers."""
    touched: int = 3
    """Tensors that were touched last: a few lines of real code are about a few tensors."""
    straight: float = 0.75
    """An element is read where one could be stored, in a function without odd indices."""
    index_of_dim: float = 0.7
    """An index is a loop variable of the dim's length, where there is one."""
    number_index: float = 0.4
    """Any other index is a number, else a multiple of another loop's variable."""
    divided_index: float = 0.12
    """An index is a quotient or a remainder of a loop variable plus a number."""
    index_clamped: float = 0.25
    """An index is brought into bounds by Min and Max, which often give a bound, else by a modulus."""
    named_index: float = 0.4
    """A bound name is an index."""
    through_register: float = 0.5
    """A value is passed on through a buffer of one element, where there is one."""
    vector_loaded: float = 0.7
    """An operand of a vector statement is loaded, else a scalar is broadcast."""


@dataclass(frozen=True, slots=True)
class NestKnobs:
    """Perfect nests."""

    alike: float = 0.6
    """A nest goes over the dims of the one before it, so that both can be joined."""
    second: float = 0.45
    """A nest holds two statements."""
    guarded: float = 0.2
    """All statements of a nest stand in one branch."""
    summed: float = 0.3
    """An inner loop adds up into the element."""
    inner_elements: float = 0.4
    """The first and the last element of each dim are left out: all others have two neighbours."""
    of_neighbour: float = 0.6
    """There, an element is made of a neighbour, which the nest may have changed already."""
    bordered: int = 3
    """Fewest elements of a dim with inner ones."""
    permuted: float = 0.2
    """The loops stand in another order than the dims."""
    stored: int = 4
    """Weight of a store of a new value among the statements of a nest: half of them."""
    updated: int = 2
    """Weight of an update, which reads what an earlier statement or nest has stored."""
    guarded_store: int = 2
    """Weight of either under a condition of its own, which passes hoist or split loops at."""
