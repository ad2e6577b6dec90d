"""The sizes and ratios of the recipes without threads, each with its reason: a record for each family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from generators.ranges import Range
from generators.tir.knobs import ONE_OF_SOME, TirKnobs

AROUND = replace(ONE_OF_SOME, statements=(0, 2), forms=replace(ONE_OF_SOME.forms, dead=0.0, symbolic=0.1))
"""Of functions around a planted statement: a few others before and after it, since what a pass leaves alone counts as
well. Two extents that are symbols in one function are rare, so are those of recipes that do not ask for them."""

AROUND_BLOCKS = replace(AROUND, blocks=replace(AROUND.blocks, local=0.0))
"""The same around planted blocks. On a GPU a block may become a kernel: no buffer between them is local to a thread."""


@dataclass(frozen=True, slots=True)
class PartitionKnobs:
    """Loops with conditions on their variables."""

    symbolic: float = 0.5
    """The length is a symbol: loops of a known length are partitioned with an option alone."""
    tiles: tuple[int, ...] = (2, 3, 4, 5, 8)
    """The inner loop, which often does not divide the length."""
    lengths: tuple[int, int] = (5, 20)
    """The length where it is a number: a few tiles."""
    third: float = 0.25
    """One more loop stands between the two."""
    two_sides: float = 0.3
    """The condition has another side."""
    both_ends: float = 0.3
    """A second condition stands at the other end."""
    shown_to_be_likely: float = 0.85
    """The condition is marked as likely: else the pass has to leave it alone, unless the loop has a hint."""
    hint: float = 0.3
    """A loop has a partition hint."""


@dataclass(frozen=True, slots=True)
class HeaderKnobs:
    """Loops that begin anywhere, step by any number, or are left early."""

    lengths: tuple[int, int] = (2, 8)
    """Iterations of the loop: enough that one left early leaves some."""
    starts_and_steps: tuple[tuple[int, int], ...] = ((1, 1), (-2, 1), (3, 1), (0, 2), (0, 3), (1, 2), (-3, 3))
    """Starts below, at and above 0, steps that divide a length and others; never 0 by 1."""
    nested: float = 0.4
    """Another such loop over the same tensor is inside."""
    moved: float = 0.3
    """A loop that is left early does not begin at 0, or does not step by 1."""
    before: float = 0.6
    """A statement comes before the jump, which is done also in the iteration that ends the loop."""


@dataclass(frozen=True, slots=True)
class VectorLoopKnobs:
    """Vectorized loops."""

    lanes: tuple[int, ...] = (4, 2, 8)
    """Of one vector, as CPUs have them."""
    rows: tuple[int, int] = (1, 4)
    """Iterations of the loop around: one vector, or some."""
    likely: float = 0.4
    """The condition of a tail is marked as likely."""
    two_sides: float = 0.5
    """A vector condition has another side, whose statement may store to the same elements."""
    second: float = 0.4
    """A loop holds a second statement, which reads what the first has stored."""
    divisors: tuple[int, ...] = (2, 3, 4, 5, 8)
    """A lane is divided by one of these, or by the number of lanes."""
    furthest: int = 5
    """The largest number that is added to a lane before: vectors then reach over a multiple of the divisor."""


@dataclass(frozen=True, slots=True)
class CalleeKnobs:
    """PrimFuncs that call others."""

    again: float = 0.6
    """The function is called at a second place."""
    public: float = 0.1
    """The called function can be called from outside as well, so that it has to stay."""
    recursive: float = 0.12
    """The called function calls itself, so that it has to stay."""
    loaded: float = 0.3
    """A number that the function is given is an element of the buffer that it writes."""


@dataclass(frozen=True, slots=True)
class PointerKnobs:
    """Memory that is seen in several ways."""

    lanes: tuple[int, ...] = (4, 2, 8)
    """Of one vector, as CPUs have them."""
    chunks: tuple[int, int] = (2, 4)
    """Vectors in a buffer."""
    scalar: float = 0.2
    """An element of a buffer of vectors is read alone."""
    buffers: tuple[int, int] = (2, 4)
    """Buffers that live one after the other."""
    nested: float = 0.4
    """The address is that of a place in a place."""


@dataclass(frozen=True, slots=True)
class CarriedLifeKnobs:
    """Buffers that live from round to round, and others that do not."""

    rounds: tuple[int, int] = (2, 4)
    """Rounds of the loop, and elements of each buffer: two show what the next round reads."""
    own: tuple[int, int] = (1, 2)
    """Buffers that each round fills anew."""


@dataclass(frozen=True, slots=True)
class AssumptionKnobs:
    """Assumptions about padding."""

    other: float = 0.3
    """The condition of the branch is another one than the assumed one, or its value is: then it has to stay."""
    moved: float = 0.25
    """The element that is read is not the one that the assumption names."""


@dataclass(frozen=True, slots=True)
class SharingKnobs:
    """Statements that two functions of a module share."""

    before: float = 0.5
    """The other function comes first in the module."""
    symbolic: float = 0.5
    """The buffers have symbolic extents, which both functions define."""


@dataclass(frozen=True, slots=True)
class WeightLayoutKnobs:
    """Weights in another layout."""

    skipped: float = 0.2
    """The mark is 0, so that the block has to stay."""


@dataclass(frozen=True, slots=True)
class MatchKnobs:
    """Matched regions."""

    nested: float = 0.5
    """A region is matched in a region."""
    fewer_dims: float = 0.5
    """A view leaves out the dims in which it has one element."""
    symbolic: float = 0.4
    """The extent of a view is a variable."""


@dataclass(frozen=True, slots=True)
class DependenceKnobs:
    """Statements whose order matters."""

    count: tuple[int, int] = (2, 3)
    """Such statements in a function: a pass has to leave some alone, and no one knows which."""
    lengths: tuple[int, ...] = (4, 8, 3, 5, 16, 2)
    """Of a tensor: whole vectors, as what vectorises asks for, and others."""
    again: float = 0.4
    """A statement works on a tensor of the one before it."""
    forwards: float = 0.7
    """What an iteration stores is read by a later one; else it reads what a later one stores."""
    by_one: float = 0.65
    """It is the next one, else the one after that."""
    joined_guarded: float = 0.4
    """Such a loop asks whether there is the element that it reads, where its length would allow it not to."""
    joined_here: float = 0.4
    """A loop that reads a temporary buffer beside where it is reads it there, too."""
    sums: float = 0.5
    """Of numbers of 8 bits a sum or a difference, else a product."""
    triangle: int = 5
    """The longest side of a triangle."""
    longer: int = 4
    """By how much less one its other side may be longer."""
    widths: tuple[int, ...] = (4, 2, 3)
    """Of the inner loop, by which a position is divided."""
    tops: Mapping[str, int] = field(
        default_factory=lambda: {"int8": 127, "uint8": 255, "int16": 5_000, "int32": 100_000}
    )
    """The largest number of a narrow type: a product does not fit there, and fits into each of the wider ones."""


@dataclass(frozen=True, slots=True)
class PartialBlockKnobs:
    """Blocks that run for a part of their loops."""

    count: tuple[int, int] = (1, 3)
    """Such blocks in a function, each with one that fills what it changes."""
    lengths: tuple[int, ...] = (5, 6, 7, 9, 10, 4, 8, 3)
    """Of a loop: more that are no multiple of a vector than others, and longer than one."""
    output: float = 0.6
    """What is changed in parts is an output, else a local tensor that a later block reads."""
    constant: float = 0.3
    """It is filled with one number, as padding is."""
    turns: int = 4
    """Most terms of a reduction without an init."""
    started: float = 0.4
    """The loop around a predicate does not begin at 0."""
    term: Range = Range(-5, 5, True)
    """What such a reduction begins with and adds: sums stay in the range of the tensor without being cut."""


@dataclass(frozen=True, slots=True)
class OrderedBlockKnobs:
    """Blocks whose iterations, inits and guards are not those of a plain nest."""

    count: tuple[int, int] = (1, 2)
    """Such blocks in a function."""
    steps: tuple[int, int] = (2, 4)
    """Of time: the second one already needs what the first has left."""
    widths: tuple[int, int] = (3, 6)
    """Elements that a step computes: enough to tell a neighbour on one side from one on the other."""
    neighbours: float = 0.7
    """A step reads the neighbours of its element, else the element alone: then the loops may change places."""
    turns: tuple[int, ...] = (4, 6, 2, 3, 8)
    """Terms of a reduction: more that can be split in two than others."""
    sums: float = 0.7
    """A reduction adds, else it takes the largest or the least, for which where it begins matters less."""


@dataclass(frozen=True, slots=True)
class MovedElementKnobs:
    """Blocks in a row that compute each element from another place of the tensor before."""

    lengths: tuple[int, int] = (2, 6)
    """Of each dim: turning it round, or moving it on by one, is then no step that does nothing."""
    square: float = 0.6
    """Both dims are alike: then a step that turns them round gives a tensor of the same shape, whose memory a pass may
    take for its own."""
    steps: tuple[int, int] = (2, 5)
    """Blocks, of which all but the last write tensors of the function's own."""
    still: float = 0.3
    """A step leaves the elements where they are: what a pass may do there it may not do elsewhere."""
    earlier: float = 0.3
    """A step reads a tensor before its own as well, which is then still needed."""
    term: int = 4
    """The most that is added for an element of a row: sums stay in what a tensor holds."""


@dataclass(frozen=True, slots=True)
class TurnKnobs:
    """Loops whose turns are not what their header says."""

    count: tuple[int, int] = (1, 3)
    """Such statements in a function."""
    symbolic: float = 0.35
    """Functions with a number among their parameters, or with a symbol as a length: one of the statements asks it."""
    beside: float = 0.4
    """Something is stored before a turn ends early."""
    second_step: float = 0.6
    """A counter is moved on in two places."""
    counter_shown: float = 0.6
    """A counter is read after its loop."""
    view_last: float = 0.7
    """The store by the second name comes last, which is what a reader of the first name does not see."""
    limit: int = 6
    """Most that a number is compared with: drawn symbols are 0 to 8."""
    far: tuple[int, int] = (5_000, 100_000)
    """What a turn is taken times: a few turns are too much for 16 bits, and the longest loop is not for 32."""


@dataclass(frozen=True, slots=True)
class OverwrittenKnobs:
    """Elements that are needed when they have been overwritten."""

    in_loop: float = 0.7
    """A loop overwrites what a name keeps, else a branch."""
    back: tuple[int, int] = (1, 3)
    """How far back a sequence looks."""
    read_last: float = 0.6
    """The old element is read after the new one is stored, else before."""


@dataclass(frozen=True, slots=True)
class RoundKnobs:
    """What goes from one turn of a loop to the next."""

    count: tuple[int, int] = (2, 3)
    """Such statements in a function."""
    of_one_kind: int = 3
    """The most in one of a single kind: each has several forms, of which few matter to a pass."""
    stored_meanwhile: float = 0.6
    """What the next turn needs is loaded from a tensor that the loop stores to, too: then the order of both matters."""
    guarded: float = 0.4
    """The last turn loads nothing for a next one, else an element beyond the others."""
    by_name: float = 0.6
    """A value that is exchanged for another one is kept by a name, else it is lost before it is read."""
    of_state: float = 0.3
    """A condition asks the value that the last turn has left, else the variable of the loop or data."""
    rounds: tuple[int, int] = (1, 3)
    """Rounds over a whole tensor: after one, nothing has been read that another round has written."""
    copied_at_once: float = 0.4
    """A temporary tensor is copied back in the loop that computes it, else after that."""
    copied_late: float = 0.5
    """Then one element later."""
    copied_whole: float = 0.5
    """After it, all of it is copied back, else what was computed."""
    copied_first: float = 0.3
    """The copy comes before what is computed of it, else after."""


@dataclass(frozen=True, slots=True)
class ScaledSumKnobs:
    """Sums that change what they have before they add to it."""

    turns: tuple[int, int] = (3, 6)
    """Of such a sum: with two the parts of a split sum are too short to differ."""
    rows: tuple[int, int] = (1, 4)
    """Sums beside each other."""
    term: Range = Range(-4, 4, True)
    """What is added: the whole sum then fits into 32 bits without being cut, which would hide it."""
    factors: tuple[int, ...] = (2, 3, -1)
    """By which it is scaled."""
    plain_beside: float = 0.5
    """A plain sum goes over the same numbers: a pass takes one for the other."""
    plain: float = 0.15
    """The sum itself is a plain one, which may be split."""
    in_place: float = 0.4
    """It is summed up in the output, else in a buffer of one element."""
    begun_elsewhere: float = 0.5
    """It begins at another number than 0."""


@dataclass(frozen=True, slots=True)
class RemainKnobs:
    """What remains of a value when a part of it is overwritten, and branches of which some do nothing."""

    count: tuple[int, int] = (2, 3)
    """Such statements in a function."""
    of_one_kind: int = 3
    """The most in one of a single kind: each has several forms, of which few matter to a pass."""
    constant_fill: float = 0.5
    """What is there before is one number everywhere, as passes expect of a fill."""
    filled_at_once: float = 0.35
    """It is stored in the turn that overwrites it, else by a loop before."""
    all_of_it: float = 0.15
    """The later store goes to each element after all: then the first one is not needed."""
    before: float = 0.3
    """Something is stored before a branch in a branch."""
    after: float = 0.3
    """The same after it."""
    two_sides: float = 0.4
    """A branch has another side."""
    deeper: float = 0.4
    """A third branch is in the second one."""
    same_condition: float = 0.15
    """A branch asks what the one around it has asked: a store before it may have changed the answer."""
    copied_whole: float = 0.7
    """A copy is one of each element, else in reverse."""
    source_changed: float = 0.6
    """After a copy, what was copied is changed, else the copy."""
    changed_whole: float = 0.6
    """Each element is, else one."""
    updates: tuple[int, int] = (1, 3)
    """Times that a tensor is updated in place, with the same reader before and after each."""


@dataclass(frozen=True, slots=True)
class PlainKnobs:
    """The ratios of each family."""

    partitions: PartitionKnobs = PartitionKnobs()
    headers: HeaderKnobs = HeaderKnobs()
    vectors: VectorLoopKnobs = VectorLoopKnobs()
    callees: CalleeKnobs = CalleeKnobs()
    pointers: PointerKnobs = PointerKnobs()
    carried: CarriedLifeKnobs = CarriedLifeKnobs()
    assumptions: AssumptionKnobs = AssumptionKnobs()
    sharing: SharingKnobs = SharingKnobs()
    weights: WeightLayoutKnobs = WeightLayoutKnobs()
    matches: MatchKnobs = MatchKnobs()
    dependences: DependenceKnobs = DependenceKnobs()
    parts: PartialBlockKnobs = PartialBlockKnobs()
    ordered: OrderedBlockKnobs = OrderedBlockKnobs()
    moved: MovedElementKnobs = MovedElementKnobs()
    turns: TurnKnobs = TurnKnobs()
    overwritten: OverwrittenKnobs = OverwrittenKnobs()
    rounds: RoundKnobs = RoundKnobs()
    scaled: ScaledSumKnobs = ScaledSumKnobs()
    remains: RemainKnobs = RemainKnobs()


KNOBS = PlainKnobs()


def with_symbols(share: float) -> TirKnobs:
    """AROUND, with symbolic extents in a share of the functions."""
    return replace(AROUND, forms=replace(AROUND.forms, symbolic=share))
