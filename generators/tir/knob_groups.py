"""The groups of `TirKnobs`: every ratio of the TIR generator and the sizes that it draws, with the reason for each.

Weights of kinds of statement, stage or primitive stand in the tables of those kinds.
"""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class MultiReadKnobs:
    """Blocks that read one tensor at several indices."""

    shorter: float = 0.4
    """An axis stops short of its dim, which leaves room for neighbours."""
    paired: float = 0.2
    """One dim has two axes, so that its elements meet in pairs."""
    transposed: float = 0.3
    """A further read is transposed."""
    tries: int = 8
    """Further reads tried: many are equal to one before."""


@dataclass(frozen=True, slots=True)
class BlockKnobs:
    """Functions of blocks."""

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
    loops_fused: float = 0.25
    """Two axes share a loop."""
    loops_reversed: float = 0.3
    """The loops stand in reverse."""
    loop_annotated: float = 0.04
    """A loop has pragmas of unrolling."""


@dataclass(frozen=True, slots=True)
class PartKnobs:
    """Blocks that cover a part of the tensor that they write."""

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
class LoopKnobs:
    """Functions without blocks: statements, indices, conditions and buffers."""

    tries: int = 5
    """Kinds of statement tried before a nest is taken."""
    kind_again: float = 0.2
    """A statement is of the kind of the one before it: loops stand beside loops."""
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
    buffer_shown: float = 0.85
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
    """A loop does nothing outside a part of its iterations, as stencils do at borders."""
    two_sides: float = 0.35
    """A branch has two sides."""
    else_if: float = 0.35
    """The other side has a condition as well: one that was asked before."""
    branch_twice: float = 0.2
    """A branch is followed by one on the same condition."""
    while_on_data: float = 0.4
    """A while asks data, too."""
    recurrence_forward: float = 0.7
    """A recurrence reads earlier elements, else later ones."""
    named_index: float = 0.4
    """A bound name is an index."""
    condition_again: float = 0.35
    """A condition is one that was drawn before: real code asks the same question again."""
    condition_of_loop: float = 0.5
    """A condition in a loop is one of a loop variable, as guards at borders are."""
    condition_of_innermost: float = 0.5
    """It is the variable of the innermost loop."""
    condition_joined: float = 0.4
    """A condition is joined with another."""
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
    index_clamped: float = 0.25
    """An index is brought into bounds by Min and Max, which often give a bound, else by a modulus."""
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


@dataclass(frozen=True, slots=True)
class KernelKnobs:
    """Functions of kernels."""

    kernels: tuple[int, int] = (1, 3)
    """Kernels of a function."""
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


@dataclass(frozen=True, slots=True)
class ScheduleKnobs:
    """Random schedules."""

    steps: tuple[int, int] = (1, 5)
    """Primitives that a schedule asks for."""
    tensorized: float = 0.8
    """A schedule of a matrix product begins with an intrinsic for it: most other steps take the product apart."""
    patience: int = 6
    """Rows tried for a step before the schedule ends."""
    flag: float = 0.2
    """A flag of a primitive is not its default."""
    unit_loops: float = 0.4
    """compute_at says whether unit loops stay."""
    index: float = 0.2
    """compute_at names the position among the blocks."""
    padded: float = 0.2
    """A layout transform of a vector pads."""
    three_parts: float = 0.4
    """loop_partition makes three parts, else two."""
    three_loops: float = 0.3
    """fuse joins three loops, else two."""
    loop_left_out: float = 0.3
    """reorder leaves out a loop of a chain."""
