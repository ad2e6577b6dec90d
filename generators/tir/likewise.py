"""Two blocks alike up to one choice, as a pass that puts equal blocks together meets them: they differ in an init, an
index, an operand, a loop, or not at all.

The choices of the first block are made again for the second (`Echo`), all but one; a block that reads both
follows, so that neither can stand for the other unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tvm import tirx

from generators.source import Choice, Echo, Source, favour, weighted
from generators.tir.block_loops import SPATIAL, BlockAxis, BlockBody
from generators.tir.function_draft import DraftTensor, FunctionDraft, Unfit, load
from generators.tir.multi_reads import both
from generators.tir.partial_coverage import append_nest
from generators.tir.reductions import draw_reduction, draw_window
from generators.tir.stages import draw_padding, draw_pointwise, result
from generators.tir.terms import BY_NAME, Term, apply
from generators.tvm_api import structural_equal

_Stage = Callable[[FunctionDraft], None]
_STAGES: tuple[tuple[_Stage, int], ...] = (
    (draw_reduction, 4),
    (draw_pointwise, 3),
    (draw_window, 1),
    (draw_padding, 1),
)
"""Those that compute one tensor, with weights: of reductions, the init may be what differs."""


def draw_likewise(draft: FunctionDraft) -> None:
    """A stage, the same once more up to one choice, and a block that reads both."""
    source, knobs, final = draft.source, draft.knobs, draft.final
    stage = weighted(source, _STAGES)
    draft.final = False
    draft.knobs = replace(
        knobs,
        blocks=replace(knobs.blocks, output=knobs.likewise.output),
        reductions=replace(knobs.reductions, biased=knobs.likewise.biased),
    )
    before = list(draft.tensors)
    try:
        first, given = _drawn(draft, stage, source)
        second = _once_more(draft, stage, source, before, given)
    finally:
        draft.source, draft.knobs, draft.final = source, knobs, final
    draft.tensors = [*before, *first, *second]
    draft.features.add("likewise")
    one, other = first[-1], second[-1]
    if [d.text for d in one.dims] == [d.text for d in other.dims]:
        _append_both(draft, one, other)


def _once_more(
    draft: FunctionDraft, stage: _Stage, source: Source, before: Sequence[DraftTensor], given: Sequence[Choice]
) -> list[DraftTensor]:
    """The tensors of the second block, which finds the function as the first one did."""
    knobs = draft.knobs.likewise
    draft.tensors = list(before)
    if not source.flip(knobs.differs):
        return _drawn(draft, stage, source, given)[0]
    begun = draft.state()
    for _ in range(knobs.tries):
        draft.go_back(begun)
        made, _ = _drawn(draft, stage, source, given, knobs.anew)
        if not structural_equal(begun.statements[-1], draft.statements[-1], map_free_vars=True):
            break
    return made


def _drawn(
    draft: FunctionDraft, stage: _Stage, source: Source, earlier: Sequence[Choice] = (), anew: float = 0.0
) -> tuple[list[DraftTensor], list[Choice]]:
    """The tensors that the stage adds, and the choices that it took."""
    count = len(draft.tensors)
    draft.source = echo = Echo(source, earlier, anew, keeps=len(earlier) // 3)
    stage(draft)
    if len(draft.tensors) == count:
        raise Unfit("no new tensor")
    return draft.tensors[count:], echo.given


def _append_both(draft: FunctionDraft, one: DraftTensor, other: DraftTensor) -> None:
    """A block that reads two tensors of the same dims at each point."""

    def body(terms: list[Term]) -> BlockBody:
        indices = [term.expr for term in terms]
        value = _joined(draft, load(one, list(indices)), load(other, list(indices)))
        tensor = result(draft, "T", one.dims, value)
        return BlockBody(tirx.BufferStore(tensor.buffer, value.expr, indices))

    append_nest(draft, draft.new_name("both"), [BlockAxis(SPATIAL, dim) for dim in one.dims], body)


def _joined(draft: FunctionDraft, one: Term, other: Term) -> Term:
    """A sum or a product where it fits: the difference of equal values is 0, whatever they are."""
    if one.dtype == other.dtype != "bool":
        joined = apply(BY_NAME[favour(draft.source, "add", "mul")], one, other)
        if joined is not None:
            return joined
    return both(draft, one, other)
