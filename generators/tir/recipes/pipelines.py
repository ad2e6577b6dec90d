"""Software pipelines for a CPU: a loop over statements that make buffers for each other, with stages and an order; and
the same loop without these, around buffers that the root block allocates.

What the annotations demand (src/s_tir/transform/inject_software_pipeline.cc): a statement is in no earlier stage than
those that it needs, and after them within a stage; only buffers allocated in the loop get versions, so that any other
is of one statement. Asynchronous stages are in `kernel_blocks.py`: ThreadSync puts a barrier after each wait, and LLVM
has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvm import tirx

from generators.source import Source, favour, weighted
from generators.tir.block_loops import OPAQUE, SPATIAL, VECTOR
from generators.tir.expressions import Operands
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, load
from generators.tir.functions import finished
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point, can_read, read
from generators.tir.recipes.block_drafts import Loop, add_input, block_around, block_at, drafted, loop_of, of_all
from generators.tir.recipes.memory_knobs import AROUND, PIPELINES
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Stmt

STAGE, ORDER = "software_pipeline_stage", "software_pipeline_order"
VERSIONS = "double_buffer_scope"
_OF_PIPELINE = 3
"""The statements that a pipeline becomes, which the pipeline around it counts one by one: its start, its loop, its
end."""


@dataclass(slots=True)
class PipelineStep:
    """A statement of the pipeline: the buffers of the loop that it reads, and its place.

    parts: how many statements the pass takes it for.
    """

    statement: Stmt
    reads: list[DraftTensor]
    parts: int = 1
    stage: int = 0
    order: int = 0


@dataclass(slots=True)
class Pipeline:
    """The loop, what its statements read from outside, and the buffers that they make for each other."""

    draft: FunctionDraft
    loop: Loop
    width: Extent
    inputs: list[DraftTensor]
    buffers: list[DraftTensor] = field(default_factory=list)
    makers: list[int] = field(default_factory=list)
    """For each buffer the number of the step that makes it."""
    steps: list[PipelineStep] = field(default_factory=list)

    @property
    def source(self) -> Source:
        """The source of the function's choices."""
        return self.draft.source


def _draw(source: Source) -> PrimProgram:
    """A function with one pipeline."""
    pipeline = _begun(source)
    pipeline.draft.statements.append(pipelined(pipeline))
    pipeline.draft.features.add("pipeline")
    return finished(pipeline.draft, schedulable=True)


def _draw_unstaged(source: Source) -> PrimProgram:
    """The same without stages: the root block allocates what the loop alone uses."""
    pipeline = _begun(source)
    draft = pipeline.draft
    draft.statements.append(pipeline.loop.around(draft, sequence(*(step.statement for step in pipeline.steps))))
    draft.features.add("buffers_of_a_loop")
    return finished(draft, schedulable=True)


def _begun(source: Source) -> Pipeline:
    """A function with the statements of one pipeline, which are not in it yet."""
    symbolic = source.flip(PIPELINES.symbolic)
    draft = drafted(source, AROUND, symbols=("n",) if symbolic else ())
    turns = draft.symbolic("n") if symbolic else draft.extent(weighted(source, PIPELINES.turns))
    width = draft.extent(weighted(source, PIPELINES.widths))
    inputs = [add_input(draft, (turns, width))]
    for _ in range(source.integer(0, 2)):
        inputs.append(add_input(draft, source.pick(((turns, width), (width,), (turns,)))))
    loop = loop_of(draft, turns, start=source.pick((1, 3)) if source.flip(PIPELINES.shifted) else 0)
    pipeline = Pipeline(draft, loop, width, inputs)
    for left in reversed(range(source.integer(*PIPELINES.statements))):
        _add_step(pipeline, last=left == 0)
    return pipeline


def _add_step(pipeline: Pipeline, *, last: bool) -> None:
    """One more statement. The last one reads every buffer that no other has read, so that all of them show."""
    source = pipeline.source
    unread = [b for b in pipeline.buffers if not any(b is other for step in pipeline.steps for other in step.reads)]
    reads = [b for b in pipeline.buffers if (last and b in unread) or source.flip(PIPELINES.producers)]
    if not last and source.flip(PIPELINES.nested):
        _add(pipeline, _nested(pipeline, reads), reads, makes=True, parts=_OF_PIPELINE)
    elif reads and source.flip(PIPELINES.accumulates):
        _add(pipeline, _accumulated(pipeline, reads), reads)
    elif last:
        output = _tensor(pipeline, (pipeline.loop.point.extent, pipeline.width), "output")
        _add(pipeline, _computed(pipeline, output, reads), reads)
    else:
        made = _tensor(pipeline, (pipeline.width,), "local")
        _add(pipeline, _computed(pipeline, made, reads), reads, makes=True)


def _add(
    pipeline: Pipeline,
    statement: Stmt,
    reads: list[DraftTensor],
    *,
    makes: bool = False,
    parts: int = 1,
) -> None:
    """Lists the step; `makes`: the buffer that was drawn last is what it makes."""
    if makes:
        pipeline.buffers.append(pipeline.draft.tensors[-1])
        pipeline.makers.append(len(pipeline.steps))
    pipeline.steps.append(PipelineStep(statement, reads, parts))


def _tensor(pipeline: Pipeline, dims: tuple[Extent, ...], role: str) -> DraftTensor:
    """A buffer of the loop, or an output."""
    dtype = pipeline.draft.draw_dtype()
    values, fraction = held_range(dtype)
    own = role == "local"
    layout: Layout = {"scope": "local"} if own and pipeline.source.flip(PIPELINES.registers) else {}
    prefix = "B" if own else "T"
    return pipeline.draft.add_tensor(prefix, dims, dtype, values, fraction=fraction, role=role, **layout)


def _value(pipeline: Pipeline, dtype: str, at: list[Point], reads: Sequence[DraftTensor], *own: Term) -> Term:
    """A value made of an element of each buffer, of inputs, and of `own`."""
    draft, source = pipeline.draft, pipeline.source
    lengths = [point.extent for point in at]
    inputs = [t for t in pipeline.inputs if can_read(t, lengths)]
    leaves = [read(draft, tensor, at) for tensor in reads]
    leaves += [read(draft, source.pick(inputs), at) for _ in range(0 if leaves and source.flip() else 1)]
    operands = Operands(draft, [], [point.term for point in at])
    return of_all(operands, dtype, source.integer(0, 1), *leaves, *own)


def _computed(pipeline: Pipeline, tensor: DraftTensor, reads: Sequence[DraftTensor]) -> Stmt:
    """A block that stores each element of the width: of the buffer, or of the output's row of this iteration."""
    draft, source = pipeline.draft, pipeline.source
    kind = tirx.ForKind.SERIAL
    if pipeline.width.value in VECTOR and source.flip(PIPELINES.kinds):
        kind = source.pick((tirx.ForKind.VECTORIZED, tirx.ForKind.UNROLLED))
    inner = loop_of(draft, pipeline.width, kind=kind)

    def make(at: list[Point]) -> Stmt:
        indices = [point.term.expr for point in at][-len(tensor.dims) :]
        return store(tensor, _value(pipeline, tensor.dtype, at, reads), indices)

    notes = {VERSIONS: 0} if tensor.role == "local" and source.flip(PIPELINES.versions) else None
    block = block_at(draft, draft.new_name("make"), [pipeline.loop, inner], make, annotations=notes)
    return inner.around(draft, block)


def _accumulated(pipeline: Pipeline, reads: Sequence[DraftTensor]) -> Stmt:
    """A block that updates an output, which is filled before the pipeline."""
    draft = pipeline.draft
    total = _tensor(pipeline, (pipeline.width,), "output")
    first = loop_of(draft, pipeline.width)

    def fill(at: list[Point]) -> Stmt:
        operands = Operands(draft, [], [point.term for point in at])
        return store(total, of_all(operands, total.dtype, 0), [at[0].term.expr])

    draft.statements.append(first.around(draft, block_at(draft, draft.new_name("fill"), [first], fill)))
    inner = loop_of(draft, pipeline.width)

    def make(at: list[Point]) -> Stmt:
        index = at[-1].term.expr
        return store(total, _value(pipeline, total.dtype, at, reads, load(total, [index])), [index])

    name = draft.new_name("sum")
    draft.features.add("pipeline_sum")
    return inner.around(draft, block_at(draft, name, [pipeline.loop, inner], make, kinds=(OPAQUE, SPATIAL)))


def _nested(pipeline: Pipeline, reads: Sequence[DraftTensor]) -> Stmt:
    """A pipeline of two statements for each element of the buffer that it makes."""
    draft, source = pipeline.draft, pipeline.source
    cell = _tensor(pipeline, (draft.extent(1),), "local")
    tensor = _tensor(pipeline, (pipeline.width,), "local")
    inner = loop_of(draft, pipeline.width)
    zero = draft.number(0)

    def first(at: list[Point]) -> Stmt:
        return store(cell, _value(pipeline, cell.dtype, at, reads), [zero])

    def second(at: list[Point]) -> Stmt:
        return store(tensor, _value(pipeline, tensor.dtype, at, (), load(cell, [zero])), [at[-1].term.expr])

    loops = [pipeline.loop, inner]
    body = sequence(*(block_at(draft, draft.new_name("in"), loops, make) for make in (first, second)))
    order = source.pick(([0, 1], [1, 0]))
    draft.features.add("nested_pipeline")
    return inner.around(draft, body, {STAGE: [0, favour(source, 1, 2)], ORDER: order})


def pipelined(pipeline: Pipeline) -> Stmt:
    """The annotated loop over the steps."""
    draft, source, steps = pipeline.draft, pipeline.source, pipeline.steps
    _place(pipeline)
    places = [(step.stage, step.order + part) for step in steps for part in range(step.parts)]
    notes: dict[str, object] = {STAGE: [stage for stage, _ in places], ORDER: [order for _, order in places]}
    if source.flip(PIPELINES.noted):
        notes["pragma_loop_partition_hint"] = 1
    body = [step.statement for step in steps]
    at = source.integer(0, len(body) - 2)
    alone = any(step.parts > 1 for step in steps[at : at + 2])
    if len(body) > 2 and not alone and source.flip(PIPELINES.grouped):
        body[at : at + 2] = [block_around(draft, draft.new_name("pair"), sequence(*body[at : at + 2]), ())]
        draft.features.add("grouped_steps")
    nest = sequence(*body)
    if source.flip(PIPELINES.inside):
        own = [t for t in draft.tensors if t.role == "local"]
        nest = block_around(draft, draft.new_name("body"), nest, own)
    return pipeline.loop.around(draft, nest, notes)


def _place(pipeline: Pipeline) -> None:
    """Gives each step a stage and a place in the order."""
    source, steps = pipeline.source, pipeline.steps
    for step in steps:
        needed = _needed(pipeline, step)
        least = max((steps[number].stage for number in needed), default=0)
        step.stage = least + weighted(source, PIPELINES.stage_steps if needed else PIPELINES.first_stages)
    if all(step.stage == steps[0].stage for step in steps):
        steps[-1].stage += 1
    left, order = list(range(len(steps))), 0
    while left:
        chosen = source.pick([n for n in left if _ready(pipeline, n, left)])
        steps[chosen].order = order
        order += steps[chosen].parts
        left.remove(chosen)


def _ready(pipeline: Pipeline, number: int, left: list[int]) -> bool:
    """Whether no step of the same stage that is still to be placed makes what this one reads."""
    steps = pipeline.steps
    return not any(m in left and steps[m].stage == steps[number].stage for m in _needed(pipeline, steps[number]))


def _needed(pipeline: Pipeline, step: PipelineStep) -> list[int]:
    """The numbers of the steps that make what it reads."""
    makers = zip(pipeline.buffers, pipeline.makers, strict=True)
    return [maker for buffer, maker in makers if any(buffer is read for read in step.reads)]


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("software_pipeline", _draw, host=True),
    PrimRecipe("buffers_of_a_loop", _draw_unstaged, host=True),
)
