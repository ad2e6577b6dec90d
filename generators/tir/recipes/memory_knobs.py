"""The sizes and ratios of the recipes about pipelines and memory, each with its reason: a record for each family."""

from __future__ import annotations

from dataclasses import dataclass, replace

from generators.tir.knobs import DEFAULT, TirKnobs

NUMBERS: tuple[tuple[str, int], ...] = (
    ("float32", 8),
    ("int32", 5),
    ("int64", 3),
    ("float16", 3),
    ("int8", 3),
    ("uint8", 2),
    ("int16", 2),
    ("float64", 2),
)
"""(dtype, weight) of buffers: of every size, so that one offset serves another; no bool, of which there is no
arithmetic, and no bfloat16, whose legalisation moves buffers to another type."""
AROUND: TirKnobs = replace(
    DEFAULT,
    dtypes=NUMBERS,
    depths=((1, 5), (2, 2)),
    forms=replace(DEFAULT.forms, dead=0.0),
)
"""Of functions that hold nothing but the shape: expressions are short, since there are many of them."""


@dataclass(frozen=True, slots=True)
class PipelineKnobs:
    """Loops that are software pipelines."""

    statements: tuple[int, int] = (2, 5)
    """Statements of the loop before nested ones are counted: two are the least that can overlap."""
    turns: tuple[tuple[int, int], ...] = ((4, 4), (5, 3), (6, 2), (8, 2), (3, 2), (2, 2), (1, 1), (12, 1))
    """(iterations, weight): more and fewer than there are stages."""
    widths: tuple[tuple[int, int], ...] = ((4, 4), (1, 2), (3, 3), (8, 2), (7, 1))
    """(elements that a statement computes, weight)."""
    stage_steps: tuple[tuple[int, int], ...] = ((0, 4), (1, 5), (2, 1))
    """(stages between a statement and what it needs, weight); a step over a stage is rare in schedules."""
    first_stages: tuple[tuple[int, int], ...] = ((0, 6), (1, 2))
    """(stage of a statement that needs no other, weight)."""
    symbolic: float = 0.25
    """The number of iterations is a symbol: then the ends of the pipeline are predicated."""
    producers: float = 0.5
    """A statement reads one more of the buffers before it."""
    accumulates: float = 0.25
    """A statement updates a tensor that outlives the loop, as a product of matrices does."""
    versions: float = 0.15
    """A statement asks for two versions of what it writes."""
    registers: float = 0.2
    """A buffer is of scope local."""
    asynchronous: float = 0.35
    """The first stage of a kernel's pipeline is asynchronous."""
    inside: float = 0.5
    """The buffers are allocated in a block around the statements, else at the root, from where TVM moves them there."""
    grouped: float = 0.2
    """Two statements stand in a block of their own, which the pass flattens."""
    nested: float = 0.2
    """A statement is a pipeline itself."""
    noted: float = 0.15
    """The loop has an annotation besides, which stays."""
    shifted: float = 0.15
    """The loop starts at another number than 0."""
    kinds: float = 0.15
    """The loop around a statement's elements is of another kind than serial."""


PIPELINES = PipelineKnobs()


@dataclass(frozen=True, slots=True)
class DoubleBufferKnobs:
    """Buffers that a loop fills and reads, marked to be doubled."""

    turns: tuple[tuple[int, int], ...] = ((4, 4), (5, 3), (2, 3), (8, 2), (3, 2), (6, 1))
    """(iterations, weight): even and odd, since the loop is split by an even factor. LowerOpaqueBlock removes a loop of
    one iteration, and the mark would stand in none."""
    widths: tuple[tuple[int, int], ...] = ((4, 4), (8, 2), (1, 2), (3, 2), (16, 1))
    """(elements of a buffer, weight)."""
    symbolic: float = 0.2
    """The number of iterations is a symbol."""
    second: float = 0.35
    """The loop has a second buffer that is doubled."""
    repeated: float = 0.3
    """The loop stands in another one."""
    outside: float = 0.3
    """The buffer is allocated outside of the loop."""
    updated: float = 0.3
    """What fills the buffer reads it again."""
    guarded: float = 0.25
    """A part of what fills the buffer is conditional."""
    vectorized: float = 0.2
    """The buffer is filled by vectors."""


@dataclass(frozen=True, slots=True)
class VirtualKnobs:
    """Virtual threads."""

    counts: tuple[tuple[int, int], ...] = ((2, 6), (4, 3), (3, 2), (16, 1))
    """(virtual threads, weight): from 16 on they are a loop and not statements one after the other."""
    second: float = 0.35
    """There are virtual threads in two dims."""
    outer: tuple[tuple[int, int], ...] = ((1, 2), (3, 3), (4, 3))
    """(iterations of the loop around them, weight)."""
    buffers: tuple[int, int] = (1, 3)
    """Buffers of the virtual threads."""
    untouched: float = 0.3
    """A buffer is filled with the same by each virtual thread, so that they may share it."""
    statements: tuple[int, int] = (1, 4)
    """Statements between what fills the buffers and what shows them."""
    local: float = 0.5
    """A buffer is of scope local."""


@dataclass(frozen=True, slots=True)
class SharedMemoryKnobs:
    """Kernels with several buffers in shared memory."""

    rows: tuple[tuple[int, int], ...] = ((1, 2), (2, 4), (3, 2))
    """(blocks, weight)."""
    threads: tuple[tuple[int, int], ...] = ((8, 4), (4, 3), (16, 3), (32, 3), (7, 1), (64, 1))
    """(threads of a block, weight): of one warp and of two."""
    tiles: tuple[int, int] = (2, 5)
    """Buffers of a kernel: two are the least that can share memory."""
    dynamic: float = 0.6
    """The buffers of a kernel are of scope shared.dyn, else shared, which is merged with an option alone."""
    mixed: float = 0.15
    """A buffer is of the other of these scopes."""
    sizes: tuple[tuple[int, int], ...] = ((1, 6), (2, 3), (3, 1))
    """(elements for each thread, weight): larger buffers take the memory of several smaller ones."""
    kept: float = 0.4
    """A buffer is read by one more of the later ones, so that it lives longer."""
    view: float = 0.2
    """A buffer is read through a view of other dims."""
    looped: float = 0.3
    """A buffer is filled and read in a loop."""
    asynchronous: float = 0.5
    """A tile of a copying kernel is waited for after the next one was begun."""
    lanes: tuple[tuple[int, int], ...] = ((1, 3), (2, 3), (4, 4), (8, 2))
    """(elements that a thread copies at once, weight): copies of 4, 8 and 16 bytes are made asynchronous."""
    padded: float = 0.25
    """A copy has zeros in place of elements that a condition leaves out."""
    inside: float = 0.5
    """The tiles of local stages are allocated in a block around the statements, where the pass looks for them, else at
    the root, from where TVM moves them there."""


@dataclass(frozen=True, slots=True)
class ReduceKnobs:
    """Reductions over the threads of a block."""

    threads: tuple[tuple[int, int], ...] = ((32, 4), (8, 3), (16, 2), (64, 3), (5, 2), (33, 1), (96, 1), (2, 1), (1, 1))
    """(threads of a reduction, weight): a part of a warp, a warp, several, and numbers that are no power of two."""
    groups: tuple[tuple[int, int], ...] = ((1, 5), (2, 3), (3, 2), (4, 1))
    """(reductions of a block, weight)."""
    pair: float = 0.35
    """Two values are reduced together."""
    value_first: float = 0.15
    """Of the greatest value and its number the value comes first: TVM's own reducers have the number first, which alone
    0.27 reduces as it should."""
    conditional: float = 0.3
    """Some threads do not take part."""


@dataclass(frozen=True, slots=True)
class AxisKnobs:
    """Axes of threads, guards by them, and loops over the same threads one after the other."""

    extents: tuple[tuple[int, int], ...] = ((4, 4), (8, 3), (2, 3), (3, 2), (16, 1), (6, 1))
    """(threads of an axis, weight): two axes mostly have different ones."""
    outputs: tuple[int, int] = (1, 3)
    """Outputs that are stored to under guards."""
    scaled: float = 0.3
    """A guard compares a multiple of the axis."""
    siblings: tuple[int, int] = (2, 4)
    """Loops over the same threads in a kernel."""
    predicated: float = 0.5
    """A block stores for some of the threads alone."""
    tile: float = 0.35
    """It stores to shared memory; else to an output."""
    read: float = 0.6
    """A later block reads a tile."""


DOUBLE_BUFFERS = DoubleBufferKnobs()
VIRTUAL = VirtualKnobs()
SHARED = SharedMemoryKnobs()
REDUCED = ReduceKnobs()
AXES = AxisKnobs()
