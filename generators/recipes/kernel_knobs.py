"""The ratios of recipes about kernels: how they are laid out, scheduled, stored and differentiated.

The others are in `knobs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LayoutKnobs:
    """What a converted layout passes through."""

    divisible: float = 0.85
    """Channels are multiples of 2 or 4: else a packed layout is refused, which has code of its own."""
    depthwise: float = 0.1
    """Each channel is a group of its own, whose weights no layout packs."""
    operator: float = 0.65
    """A step is an operator that has code for layouts, else a tuple, a match_cast, or halves that are joined."""
    second_conv: float = 0.25
    """A second conv2d follows a step, so that layouts meet."""
    tuple_returned: float = 0.2
    """The tuple comes out, in the layout of its function."""


@dataclass(frozen=True, slots=True)
class KernelRecipeKnobs:
    """Rows of kernels, views and scalar arguments."""

    interrupted: float = 0.2
    """An impure call, which no graph holds, ends a row of kernels."""
    link_used_again: float = 0.4
    """A value of the row comes out: its storage is then no part of a graph."""
    in_tuple: float = 0.3
    """The last values go through a tuple."""
    bounded_above: float = 0.85
    """A symbol has an upper bound: without one the planner leaves its tensors alone."""
    bounded_below: float = 0.4
    """A symbol has a lower bound."""
    not_negative: float = 0.3
    """Else it is said not to be negative."""
    symbol_captured: float = 0.7
    """A symbol may be captured by a graph."""
    view_of_view: float = 0.3
    """A view is viewed again."""
    offset_ensured: float = 0.3
    """`ensure_zero_offset` stands where nothing needs it."""
    viewed_read_late: float = 0.5
    """The value is read beside its view."""
    scalar_of_symbol: float = 0.6
    """A scalar argument is an expression over a symbolic dim, else a literal."""
    scalars_again: float = 0.5
    """A kernel with scalar arguments is called once more, with some of them as before."""
    scalars_first: float = 0.3
    """Some scalar arguments come before the tensor."""


@dataclass(frozen=True, slots=True)
class LossKnobs:
    """Losses whose gradients are kernels of their own, and checkpoints."""

    padded: float = 0.3
    """A pool is padded: elements outside take no part in its gradient."""
    ceil_mode: float = 0.3
    """A pool has a partial last window."""
    class_weights: float = 0.5
    """nll_loss weighs classes."""
    fields_added: float = 0.3
    """The loss goes through a tuple in a tuple, of which several fields are used."""
    deeper: float = 0.3
    """One more differentiable operator precedes the loss."""
    between_stages: float = 0.4
    """An operator is between two checkpointed stages."""


@dataclass(frozen=True, slots=True)
class LoweredKnobs:
    """Lowered calls and devices."""

    unary_between: float = 0.3
    """An operator is between two calls."""
    outputs_whole: float = 0.3
    """The tuple of two outputs comes out."""
    name_again: float = 0.4
    """An operator is called twice in a row: the layouts between the two undo each other."""
    name_unknown: float = 0.2
    """There is a call of a name that AlterOpImpl does not know."""
    weight_constant: float = 0.3
    """The weight is a constant, else a parameter."""
    weight_read: float = 0.3
    """The weight is read elsewhere, too."""
    reader_factors: tuple[int, ...] = (1, 2, -1, 3)
    """By which the readers of a tensor that is updated in place multiply it: with 1 they copy."""
    read_before: float = 0.7
    """One stands before the first update."""
    in_place_updates: tuple[int, int] = (1, 3)
    """Updates of one tensor."""
    hint_any_dtype: float = 0.3
    """The hinted value has any dtype."""
    hint_computed: float = 0.6
    """The hinted value is computed."""
    hint_twice: float = 0.3
    """A second hint follows."""


@dataclass(frozen=True, slots=True)
class SchedulableKnobs:
    """Shapes for schedule rules."""

    by_rows: int = 7
    """Of ten products, so many are of rows, which the rules were made for; the other three forms come once each."""
    vector_added: float = 0.6
    """An epilogue adds a vector, else a whole tensor."""
    lead_dim: float = 0.25
    """The product has a batch dim."""
    column_vector: float = 0.3
    """The vector is a matrix of one column."""
    sum_keepdims: float = 0.3
    """A product written as a sum keeps its axis."""
    factor_computed: float = 0.25
    """A factor is computed: a rule inlines it."""
    factor_transposed: float = 0.3
    """A factor is transposed."""
    rows_computed: float = 0.6
    """Rows are computed before their sum."""
    summed: float = 0.85
    """Rows are summed, else an extreme is taken, which few rules know."""
    rows_added_back: float = 0.3
    """The sums meet the rows again, where ranks agree."""
    rms_norm_by_row: float = 0.15
    """rms_norm is drawn by its operator row, else in the form of its rule."""
    rms_norm_rank_two: float = 0.15
    """rms_norm has rank 2: its rule wants rank 3."""
    matrix_computed: float = 0.4
    """A matrix is computed before it is transposed, or after."""
    symbolic_length: float = 0.2
    """A length is a symbol."""
    symbolic_rows: float = 0.15
    """The same for lengths of rows."""
    symbolic_inner: float = 0.1
    """The same for the inner length, which tiles cut."""
