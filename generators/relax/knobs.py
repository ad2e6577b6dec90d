"""Every size and ratio of the Relax generator, in one place, with the reason for its value."""

from __future__ import annotations

from dataclasses import dataclass

from generators.ranges import Range


@dataclass(frozen=True, slots=True)
class BindingBlockKnobs:
    """Blocks of bindings."""

    dataflow: float = 0.75
    """A block is a dataflow block: most passes look into those alone."""
    plantings: int = 5
    """Attempts to plant a recipe: its random operands do not always fit."""


@dataclass(frozen=True, slots=True)
class OperandKnobs:
    """Operands and attributes that operator rows ask a scope for."""

    leading_first: float = 0.8
    """The operand that a chain wants comes first, else it may be a later one."""
    same_shape: float = 0.35
    """An operand that broadcasts has the very shape."""
    dim_of_one: float = 0.35
    """Else each of its dims is 1."""
    fewer_dims: float = 0.5
    """It lacks leading dims, as a bias does: a rewrite that moves a dim must move it there, too."""
    more_dims: float = 0.1
    """It has one dim more, while it has fewer than five."""
    square: float = 0.12
    """All dims of a new tensor are equal: then what goes along the wrong axis has the right type."""
    all_axes: float = 0.25
    """A reduction names no axes."""
    negative_axis: float = 0.3
    """An axis is counted from the end."""
    changed_axis: float = 0.7
    """An operator of a chain goes along an axis that the one before it has made longer or shorter."""
    identity: float = 0.15
    """A permutation is the identity, which some passes drop."""
    negative_entry: float = 0.15
    """An entry of a permutation is negative."""
    cast_known: float = 0.4
    """A match_cast gives a known dim a new symbol."""
    cast_hidden: float = 0.6
    """The same for a dim that the type hides."""
    cast_beside: float = 0.4
    """What was cast and what the cast gives are both read."""
    rank_known: float = 0.7
    """A type that hides its shape gives the rank."""


@dataclass(frozen=True, slots=True)
class CallKnobs:
    """Ifs, private functions and device hints."""

    depth: int = 2
    """Ifs in each other, and functions that call each other: deeper ones cost and show nothing new."""
    decided: float = 0.5
    """The condition of an If is made of truths that its branches read."""
    branch_dataflow: float = 0.3
    """Branches read these in a dataflow block."""
    effect: float = 0.5
    """A private function that is called in a plain block has an effect."""
    another_callee: float = 0.4
    """A private function is new though there is one."""
    fresh_argument: float = 0.2
    """An argument is made though a value in scope would do."""
    hinted: float = 0.8
    """A device is hinted at, else the value is moved there."""


@dataclass(frozen=True, slots=True)
class FunctionKnobs:
    """Functions around their bodies."""

    symbolic: float = 0.35
    """main may have symbolic dims though no pass asks for them."""
    same_symbol: float = 0.7
    """A symbolic dim is one that the function has, so that dims can be equal."""
    symbol_by_tensor: float = 0.7
    """A symbol that no parameter defines is defined by a tensor's type, else by a shape parameter."""
    tuple_parameter: float = 0.08
    """A function begins with a tuple parameter, which operands never ask for."""
    shape_parameter: float = 0.08
    """A function begins with a shape parameter."""
    unused_parameter: float = 0.05
    """A function has a parameter that nothing uses."""
    num_input: float = 0.1
    """main splits inputs from weights though no pass asks for it."""
    num_input_anywhere: float = 0.05
    """Where there are weights, the split is at any parameter all the same."""
    attribute: float = 0.1
    """main has an attribute that no pass knows."""
    module_attribute: float = 0.15
    """The module has one."""
    loss_dtypes: tuple[tuple[str, int], ...] = (("float32", 6), ("float64", 1))
    """(dtype, weight) of tensors in a function that can be differentiated: those with gradients."""
    dead: float = 0.12
    """A function without callers is in the module."""


@dataclass(frozen=True, slots=True)
class ResultKnobs:
    """Values that a function returns."""

    one_of_kept: float = 0.15
    """One value alone, where recipes keep several: the others are then dead."""
    one: float = 0.25
    """One value alone, else."""
    beside_kept: float = 0.15
    """Each other value comes out, where recipes keep some."""
    beside: float = 0.25
    """The same where they keep none."""
    nested: float = 0.2
    """Results stand in a tuple of tuples."""
    written_out: float = 0.6
    """The tuple is written out, else bound to a variable."""
    most: int = 6
    """Values that come out besides those that recipes keep."""
    loss_by_sum: float = 0.6
    """The loss is a sum, else a mean."""
    beside_loss: float = 0.3
    """Other values come out after the loss."""


@dataclass(frozen=True, slots=True)
class ChainKnobs:
    """Chains and forks of operators."""

    tries: int = 4
    """Operators tried for one link: many do not take the value."""
    links: tuple[int, int] = (2, 3)
    """Operators after the first value."""
    chains: tuple[int, int] = (3, 5)
    """Chains that a recipe of them has."""
    opened: float = 0.4
    """A chain of named operators begins with a call of one as its row draws it: rows know which numbers and axes tell
    their operator from others, and a chain gives it what it has."""
    others: float = 0.2
    """An operator that is not named is in a chain of named ones: what a pass does not know by name it may take for one
    that it knows."""
    same: float = 0.3
    """An operator follows itself: passes merge two of a kind most."""
    likewise: float = 0.6
    """An operator that was in the chain before has the same axes and bounds as then."""
    likewise_anew: float = 0.15
    """Then each choice is made anew all the same, which keeps such a call from being a copy."""
    rejoined: float = 0.4
    """The fields of a tuple are joined again, in any order."""
    forks: float = 0.3
    """A chain forks and joins again."""


@dataclass(frozen=True, slots=True)
class ChainStartKnobs:
    """The value that a chain begins with."""

    rich: int = 6
    """Elements of a value, along more than one dim, that operators can show their axes on."""
    enriched: float = 0.8
    """A chain begins with such a value instead of one with fewer elements."""
    long: float = 0.2
    """One dim of such a value is long: what slices and windows leave of it can be cut again."""
    one_broadcasts: float = 0.2
    """One dim of such a value is 1."""
    alike: float = 0.35
    """All dims of such a value are the same: types then do not distinguish axes."""
    integers: float = 0.25
    """A chain begins with integers: rewrites that would round are for those alone."""
    ranked: float = 0.5
    """A chain begins with a value of the rank that one of its operators asks for."""


@dataclass(frozen=True, slots=True)
class PairKnobs:
    """Two operators that a pass names, in the place of a chain."""

    share: float = 0.5
    """A chain of named operators is a pair: one that does another thing than the one before it, which a pass that names
    both joins."""
    across: float = 0.5
    """One of a pair is no elementwise operator, where the pass names such as well: it moves or sums what the other goes
    over."""
    beyond: float = 0.4
    """One of a pair is not named though operators of two ways are."""
    named_first: float = 0.7
    """Then the named one comes first: what is moved to its place may be anything."""
    after_pair: float = 0.3
    """A third operator follows: what reads the result must be given it."""
    whole_before_cast: float = 0.6
    """A pair that begins with a cast begins with integers, of which rewrites ask which is wider."""
    ends_before_cast: float = 0.4
    """Those are near the ends of their dtype, out of which what follows then comes unless the cast is done first."""
    named_dtype: float = 0.5
    """A pair begins with a value of a dtype that the pass names, where it names any."""
    literals: float = 0.5
    """The same of the second operator of a pair: a pass knows at once what becomes of a constant."""


@dataclass(frozen=True, slots=True)
class BesideKnobs:
    """What stands beside the operand of a link."""

    literals: float = 0.35
    """An operator gets a constant: one number that is neutral or absorbing for some operators, or one for each index of
    an axis."""
    same_beside: float = 0.4
    """Its other operands are those of the call before: what was added is subtracted again, what was quantised with
    a scale is multiplied by it."""
    other_beside: float = 0.25
    """Each of these is another one all the same."""
    along_axis: float = 0.3
    """A constant is the latter, which rewrites of biases and scales look for."""
    along_channels: float = 0.6
    """The same after an operator that goes over windows, and has channels."""
    ends: float = 0.3
    """The number lies at an end of a narrower dtype, or next to it."""
    ends_after_cast: float = 0.6
    """The same where a cast has given the value."""


@dataclass(frozen=True, slots=True)
class TupleKnobs:
    """Tuples of tuples."""

    widths: tuple[int, int] = (2, 3)
    """Fields of a tuple, the outer one and those inside."""
    parts: tuple[int, int] = (3, 5)
    """Values that the tuples are made of: some stand in several of them, in other places."""
    computed: float = 0.5
    """A value is computed, else a parameter or a constant."""
    differences: float = 0.4
    """A computed value is a difference of two others, else a sum with a number."""
    alike: float = 0.7
    """The tuples inside have the same width."""
    beside: float = 0.2
    """The outer tuple has a tensor field, too."""
    deeper: float = 0.12
    """The whole is the field of one more tuple."""
    askew: float = 0.8
    """Fields whose two indices differ are preferred: they show swapped indices."""
    shared: float = 0.5
    """A field of a field is taken from a tuple that has been taken before."""
    taken: tuple[int, int] = (2, 4)
    """Fields of fields that are taken."""
    concatenated: float = 0.25
    """Fields are put side by side, else subtracted from each other."""
    in_block: float = 0.4
    """A nested output of a block is taken apart inside of it, too."""


@dataclass(frozen=True, slots=True)
class TruthKnobs:
    """Boolean scalars that decide an If and that its branches read."""

    three: float = 0.2
    """Three truths are drawn, else two."""
    compared: float = 0.5
    """A truth is a comparison, else a parameter or another boolean in scope."""
    in_scope: float = 0.4
    """An operand is one in scope, where there is one, else a new parameter."""
    negated: float = 0.3
    """A truth is negated in a condition; so does the whole condition."""
    in_order: float = 0.8
    """Two truths are joined in their order."""
    read: float = 0.75
    """A branch reads each truth."""
    derived: float = 0.2
    """A branch reads the negation of a truth, or two of them joined."""


@dataclass(frozen=True, slots=True)
class EntryKnobs:
    """Entry calls."""

    again: float = 0.25
    """main is called with a second set of inputs: other values, other extents where dims are symbolic."""
    resized: float = 0.7
    """The second set has other extents, else other values alone."""
    others: float = 0.5
    """A public function besides main is called."""


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
    ranks: tuple[tuple[int, int], ...] = ((2, 8), (3, 6), (1, 5), (4, 4), (0, 3), (5, 3))
    """(rank, weight) of drawn tensors: each rank that an operator takes shows in a hundred of its calls."""
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
    """(dtype, weight) of drawn tensors; most passes look for float32."""
    parameter_share: float = 0.8
    """A new operand is a parameter, else a constant."""
    constants_parameter_share: float = 0.35
    """The same at most, where passes under test look for constants."""
    special_share: float = 0.2
    """A constant holds one value throughout that is special to some operator."""
    special_choices: int = 4
    """How often `where` stands among the operators that ask what NaN and infinities are: each of those stands once, and
    it is the only one that chooses by them."""
    constant_share: float = 0.15
    """A constant in scope may be an operand where a value that is no constant would do."""
    fixed_share: float = 0.35
    """A call that depends on no parameter is kept: FoldConstant compiles each with LLVM, which costs as much
    as judging a whole case."""
    fresh_share: float = 0.12
    """A new operand is made though one in scope would do."""
    real_share: float = 0.2
    """Float contents are real numbers, else small whole numbers, on which most answers are exact."""
    large_share: float = 0.1
    """Integer contents are larger, so that products leave the narrow types."""
    ends_share: float = 0.2
    """Contents of a narrow integer type reach to its ends: those operators take them that compare, move, choose and
    convert."""
    output_share: float = 0.3
    """A value of a dataflow block is visible after it."""
    unused_output_share: float = 0.8
    """A value that nothing reads comes out of its block, and of its function: else it is dead code."""
    symbolic_share: float = 0.15
    """A dim of a new parameter is symbolic, in functions that may have symbols."""
    guard_share: float = 0.3
    """A value out of an operator's domain is clipped into it, else another operand is taken."""
    blocks: BindingBlockKnobs = BindingBlockKnobs()
    operands: OperandKnobs = OperandKnobs()
    calls: CallKnobs = CallKnobs()
    functions: FunctionKnobs = FunctionKnobs()
    results: ResultKnobs = ResultKnobs()
    chains: ChainKnobs = ChainKnobs()
    chain_starts: ChainStartKnobs = ChainStartKnobs()
    pairs: PairKnobs = PairKnobs()
    beside: BesideKnobs = BesideKnobs()
    tuples: TupleKnobs = TupleKnobs()
    truths: TruthKnobs = TruthKnobs()
    entries: EntryKnobs = EntryKnobs()


DEFAULT = Knobs()
WHOLE = Range(-3, 3, True)
LARGE = Range(-50, 50, True)
"""Integers whose products int8 does not hold."""
REAL = Range(-2.0, 2.0)
SPECIAL = (0, 1, -1, 2)
"""Numbers that mean something to operators, as constants."""
