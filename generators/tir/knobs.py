"""Every size and ratio of the TIR generator, with the reason for its value: sizes here, ratios by family of forms in
`knob_groups.py`, `block_knobs.py`, `loop_knobs.py`, `kernel_knobs.py` and `integer_knobs.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from generators.tir.block_knobs import (
    BlockKnobs,
    BlockLoopKnobs,
    BlockReductionKnobs,
    LikewiseKnobs,
    MultiReadKnobs,
    PartKnobs,
)
from generators.tir.integer_knobs import IntegerKnobs
from generators.tir.kernel_knobs import KernelKnobs
from generators.tir.knob_groups import ExpressionKnobs, FormKnobs, InputKnobs, ReadKnobs, ScheduleKnobs
from generators.tir.loop_knobs import BranchKnobs, BufferKnobs, ElementKnobs, KindKnobs, LoopKnobs, NestKnobs


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
    hints: float = 0.6
    """A block, a loop or a function carries a hint, of those that the passes look for, where it may."""
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

    forms: FormKnobs = FormKnobs()
    inputs: InputKnobs = InputKnobs()
    expressions: ExpressionKnobs = ExpressionKnobs()
    reads: ReadKnobs = ReadKnobs()
    schedules: ScheduleKnobs = ScheduleKnobs()
    blocks: BlockKnobs = BlockKnobs()
    reductions: BlockReductionKnobs = BlockReductionKnobs()
    block_loops: BlockLoopKnobs = BlockLoopKnobs()
    parts: PartKnobs = PartKnobs()
    multi_reads: MultiReadKnobs = MultiReadKnobs()
    kinds: KindKnobs = KindKnobs()
    buffers: BufferKnobs = BufferKnobs()
    loops: LoopKnobs = LoopKnobs()
    branches: BranchKnobs = BranchKnobs()
    elements: ElementKnobs = ElementKnobs()
    nests: NestKnobs = NestKnobs()
    kernels: KernelKnobs = KernelKnobs()
    integers: IntegerKnobs = IntegerKnobs()
    likewise: LikewiseKnobs = LikewiseKnobs()


DEFAULT = TirKnobs()
ONE_OF_SOME = TirKnobs(stages=(1, 3), statements=(2, 4), all_statements=8)
"""For functions that share a module: together they are as much as one alone."""
FUNCTIONS = (1, 5)
"""How many of them share one, a function alone among them: the way to the TIR passes costs the same for all."""
SCHEDULABLE = TirKnobs(block_loops=BlockLoopKnobs(step=0.0), parts=PartKnobs(share=0.0))
"""For functions to be scheduled: the primitives of 0.27 rewrite loops as if there were no For.step, and some make new
ones that go over all of an axis where the old ones went over a part."""


def for_rules(knobs: TirKnobs, *, parts: bool = False) -> TirKnobs:
    """Of functions that a pass schedules, and binds to threads: nor is a buffer between blocks a thread's own yet.
    parts: blocks may cover a part of their tensor, which TVM's primitives often take for all of it."""
    return replace(
        knobs,
        blocks=replace(knobs.blocks, local=0.0),
        block_loops=replace(knobs.block_loops, step=0.0),
        parts=knobs.parts if parts else replace(knobs.parts, share=0.0),
    )


def for_barriers(knobs: TirKnobs) -> TirKnobs:
    """Of functions for passes after those that insert barriers: most are kernels whose threads work together."""
    forms = replace(knobs.forms, kernel=knobs.kernels.share_for_barriers)
    return replace(knobs, forms=forms, kernels=replace(knobs.kernels, together=knobs.kernels.together_for_barriers))


def for_threads(knobs: TirKnobs) -> TirKnobs:
    """Of functions that rules for GPUs bind to threads: their loops are plain, no buffer between blocks, which may
    become kernels of their own, is local to a thread, and the module has no dead function."""
    loops = replace(knobs.block_loops, shaped=0.0, kind=0.0)
    blocks, forms = replace(knobs.blocks, local=0.0), replace(knobs.forms, dead=0.0)
    return replace(knobs, forms=forms, blocks=blocks, block_loops=loops)


def for_dead(knobs: TirKnobs) -> TirKnobs:
    """Of functions without callers: small, since a pass that fails on one fails whatever it computes."""
    forms = replace(knobs.forms, opaque=0.5, plain=0.2, dead=0.0)
    return replace(knobs, stages=(1, 3), statements=(1, 3), forms=forms)


INTEGERS = TirKnobs(depths=((2, 1),), max_elements=600, forms=FormKnobs(dead=0.0))
"""For functions that go through small ranges of integers, see `integers.py`."""
SYMBOL_LIMIT = 16
"""The largest symbolic extent: index expressions are in range for every value from 0 to this."""
