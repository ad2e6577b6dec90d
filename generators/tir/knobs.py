"""Every size and ratio of the TIR generator, in one place, with the reason for its value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from generators.tir.integer_knobs import IntegerKnobs
from generators.tir.knob_groups import (
    BlockKnobs,
    ExpressionKnobs,
    InputKnobs,
    KernelKnobs,
    LoopKnobs,
    MultiReadKnobs,
    NestKnobs,
    PartKnobs,
    ReadKnobs,
    ScheduleKnobs,
)


@dataclass(frozen=True, slots=True)
class TirKnobs:
    """Sizes and probabilities of drawn PrimFuncs."""

    stages: tuple[int, int] = (1, 5)
    """Blocks of a schedulable function, one for each tensor computed: producers and consumers for compute_at."""
    statements: tuple[int, int] = (2, 6)
    """Statements at the top of a function without blocks."""
    all_statements: int = 12
    """Statements in all of such a function after which nothing nests any more: few loops hold many."""
    depths: tuple[tuple[int, int], ...] = ((1, 2), (2, 5), (3, 2))
    """(depth, weight): how deep expressions nest."""
    max_elements: int = 1024
    """Largest tensor: small enough to interpret in milliseconds."""
    max_iterations: int = 20_000
    """Most iterations of one nest of loops."""
    extents: tuple[tuple[int, int], ...] = (
        (4, 8),
        (8, 6),
        (3, 4),
        (2, 4),
        (5, 4),
        (1, 3),
        (7, 3),
        (6, 3),
        (16, 3),
        (9, 2),
        (12, 2),
        (0, 1),
    )
    """(extent, weight): divisible and not, with 0 and 1 as the degenerate ones."""
    dtypes: tuple[tuple[str, int], ...] = (
        ("float32", 12),
        ("int32", 6),
        ("int64", 4),
        ("int8", 3),
        ("uint8", 3),
        ("float16", 3),
        ("int16", 2),
        ("float64", 2),
        ("bfloat16", 2),
        ("bool", 1),
    )
    """(dtype, weight) of tensors."""
    mixed_share: float = 0.25
    """A tensor has a dtype of its own, else the function's."""
    symbolic_share: float = 0.25
    """A function has symbolic extents."""
    opaque_share: float = 0.4
    """A function has loops only, without blocks."""
    kernel_share: float = 0.6
    """A function for a target with threads is of kernels: TVM's schedules give a small tensor one block."""
    together_share: float = 0.3
    """The threads of a kernel work together, which takes barriers."""
    integer_share: float = 0.2
    """A function in a module of several goes through small ranges of integers: see `integers.py`."""
    plain_share: float = 0.5
    """A function without blocks holds nothing unusual: most passes over loops skip loops with statements that they do
    not know. One half is for passes that optimise loops, the other for those that lower them."""
    unusual_share: float = 0.6
    """In the others, an unusual kind may be drawn (see `swarm.py`): several kinds meet, rarely all."""
    rooted_share: float = 0.5
    """The loops of a function without blocks stand in one block, where that is allowed, as those of a packed kernel
    do."""
    local_share: float = 0.12
    """A buffer between blocks has the scope "local": on a GPU each thread then has its own."""
    special_share: float = 0.08 / 3
    """Of each of three float dtypes, an input holds NaN, infinities, signed zeros and subnormals: 0.08 of functions
    have one."""
    fraction_share: float = 0.3
    """A float input holds halves or quarters, else whole numbers: casts to integers then have to cut."""
    inexact_share: float = 0.15
    """An output is computed by an elementary function: then the answer is not exact."""
    dead_share: float = 0.15
    """The module has a private function without callers."""
    loop_kind_share: float = 0.15
    """A loop around a block is parallel, vectorized or unrolled, where that is allowed."""
    step_share: float = 0.4
    """A loop that is shaped for its axis has a step."""
    shaped_share: float = 0.25
    """Loops around a block are split, fused or shifted; else there is one for each axis."""

    part_share: float = 0.18
    """A block covers a part of the tensor that it writes, where that is allowed: its loops do not begin at 0."""
    multi_read_share: float = 0.35
    """A block reads a tensor of an earlier block at several indices at once, where that is allowed."""

    inputs: InputKnobs = InputKnobs()
    expressions: ExpressionKnobs = ExpressionKnobs()
    reads: ReadKnobs = ReadKnobs()
    multi_reads: MultiReadKnobs = MultiReadKnobs()
    blocks: BlockKnobs = BlockKnobs()
    parts: PartKnobs = PartKnobs()
    loops: LoopKnobs = LoopKnobs()
    nests: NestKnobs = NestKnobs()
    kernels: KernelKnobs = KernelKnobs()
    integers: IntegerKnobs = IntegerKnobs()
    schedules: ScheduleKnobs = ScheduleKnobs()


DEFAULT = TirKnobs()
ONE_OF_SOME = TirKnobs(stages=(1, 3), statements=(2, 4), all_statements=8)
"""For functions that share a module: together they are as much as one alone."""
FUNCTIONS = (1, 5)
"""How many of them share one, a function alone among them: the way to the TIR passes costs the same for all."""
SCHEDULABLE = TirKnobs(step_share=0.0, part_share=0.0)
"""For functions to be scheduled: the primitives of 0.27 rewrite loops as if there were no For.step, and some make new
ones that go over all of an axis where the old ones went over a part."""


def for_rules(knobs: TirKnobs, *, parts: bool = False) -> TirKnobs:
    """Of functions that a pass schedules, and binds to threads: nor is a buffer between blocks a thread's own yet.
    parts: blocks may cover a part of their tensor, which TVM's primitives often take for all of it."""
    return replace(knobs, step_share=0.0, part_share=knobs.part_share if parts else 0.0, local_share=0.0)


def for_barriers(knobs: TirKnobs) -> TirKnobs:
    """Of functions for passes after those that insert barriers: most are kernels whose threads work together."""
    kernels = knobs.kernels
    return replace(knobs, kernel_share=kernels.share_for_barriers, together_share=kernels.together_for_barriers)


def for_threads(knobs: TirKnobs) -> TirKnobs:
    """Of functions that rules for GPUs bind to threads: their loops are plain, and the module has no dead function."""
    return replace(knobs, dead_share=0.0, shaped_share=0.0, loop_kind_share=0.0)


def for_dead(knobs: TirKnobs) -> TirKnobs:
    """Of functions without callers: small, since a pass that fails on one fails whatever it computes."""
    return replace(knobs, stages=(1, 3), statements=(1, 3), opaque_share=0.5, plain_share=0.2, dead_share=0.0)


INTEGERS = replace(DEFAULT, depths=((2, 1),), max_elements=600, dead_share=0.0)
"""For functions that go through small ranges of integers, see `integers.py`."""
SYMBOL_LIMIT = 16
"""The largest symbolic extent: index expressions are in range for every value from 0 to this."""
