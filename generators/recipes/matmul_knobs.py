"""The ratios of the recipes of matrix products: as `generators.recipes.knobs` says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatmulKnobs:
    """Matrix products."""

    weight: float = 0.4
    """A factor is a weight."""
    batch_symbolic: float = 0.6
    """The batch of the other factor is symbolic, as that of an input is."""
    product_on_the_right: float = 0.7
    """The inner product is on the right."""
    vector: float = 0.15
    """The thin operand is a vector."""
    vector_rarely: float = 0.1
    """The same where a pass looks for matrices."""
    same_factor: float = 0.3
    """Both factors are one value, where that fits."""
    square: float = 0.3
    """The product is square, so that a wrong transposition keeps the type."""
    permuted_on_the_right: float = 0.75
    """The permuted product is on the right."""
    sum_transposed: float = 0.35
    """The sum is transposed before the product."""
    doubled: float = 0.1
    """A sum adds a value to itself."""
    summand_whole: float = 0.8
    """The second summand has the dims of the first, else it broadcasts."""
    take_last_axis: float = 0.75
    """take goes along the last axis, else along the first of three."""
    axes_otherwise: float = 0.1
    """One permutation is written in another way than its neighbours."""
    concat_axis_absent: float = 0.3
    """concat of vectors has no axis."""
    axes_absent: float = 0.3
    """permute_dims has no axes."""
    axes_negative: float = 0.1
    """permute_dims has negative axes."""
    transposed_returned: float = 0.15
    """The transposed value comes out, so that it must stay."""
    bias_on_the_right: float = 0.8
    """The bias is the second operand of the sum."""
    relu_again: float = 0.3
    """A second bias and ReLU follow."""


@dataclass(frozen=True, slots=True)
class ParallelMatmulKnobs:
    """Products of one factor with several others, side by side."""

    shared_vector: float = 0.06
    """The shared operand of parallel products is a vector."""
    own_batch: float = 0.2
    """The other operands have batch dims."""
    width_symbolic: float = 0.15
    """A branch may have a symbolic width."""
    branch_vector: float = 0.04
    """The other operand of a branch is a vector."""
    branch_lacks: float = 0.08
    """A branch lacks its bias, or its activation."""
    bias_scalar: float = 0.06
    """A bias has one element."""
    depends: float = 0.1
    """One of the products depends on the result of another: then they cannot be one."""
    ends_at_once: float = 0.5
    """What follows a product stands before the next product, else after all of them."""
    joined: float = 0.2
    """The ends are joined along the axis of the widths again."""


@dataclass(frozen=True, slots=True)
class TurnedMatmulKnobs:
    """A product that is transposed, and the product of the transposed factors."""

    integers: float = 0.6
    """Factors of a product that is transposed are integers: floats stand in the other shapes."""
    wider: float = 0.5
    """Such a product has a wider dtype: else its factors are small."""
    square: float = 0.5
    """All of its sides are equal: then nothing but its numbers tells what is transposed."""
    both_ways: float = 0.3
    """The product of the transposed factors stands beside the transposed product."""
    moved_before: float = 0.4
    """A factor is moved, sliced or joined first."""
    moved_after: float = 0.5
    """The same of the product."""
