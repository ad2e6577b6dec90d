"""Pairs of blocks alike: equal where nothing is to differ, elsewhere different in one thing, and both are read."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from dataclasses import replace
from typing import Any

from tvm import s_tir

from generators import tvm_api
from generators.source import SeededSource
from generators.tir.functions import begun, draw_one, finished
from generators.tir.knobs import SCHEDULABLE, TirKnobs
from generators.tir.likewise import draw_likewise
from generators.tir.stages import draw_pointwise
from generators.unavailable import Unavailable
from oracles.ir.walk import nodes_of

DRAWS = 400


def knobs(differs: float) -> TirKnobs:
    return replace(SCHEDULABLE, likewise=replace(SCHEDULABLE.likewise, differs=differs, anew=1e-9))


def pairs(differs: float) -> list[tuple[Any, Any]]:
    """The two blocks alike of functions in which another one reads what they write."""
    found = []
    for seed in range(DRAWS):
        draft = begun(SeededSource(31, seed), knobs(differs))
        try:
            draw_likewise(draft)
        except Unavailable:
            continue
        blocks = blocks_of(finished(draft, schedulable=True).module["main"])
        joined = next((block for block in blocks if block.name_hint.startswith("both")), None)
        if joined is not None:
            read = {str(region.source.name) for region in joined.reads}
            one, other = (writers_of(blocks, name) for name in sorted(read, key=lambda name: int(name[1:])))
            found += [(one[0], other[0])] if len(one) == len(other) == 1 else []
    return found


def writers_of(blocks: list[Any], name: str) -> list[Any]:
    return [block for block in blocks if str(block.writes[0].source.name) == name]


def blocks_of(func: Any) -> list[Any]:
    return [block for block in nodes_of(func.body, s_tir.SBlock) if block.name_hint != "root"]


def test_blocks_that_are_not_to_differ_are_equal() -> None:
    found = pairs(differs=0.0)
    assert len(found) > DRAWS / 8
    for one, other in found:
        assert same(one, other)


def test_most_others_differ_and_some_in_the_init_alone() -> None:
    found = pairs(differs=1.0)
    assert len(found) > DRAWS / 8
    different = [(one, other) for one, other in found if not same(one, other)]
    assert len(different) > len(found) / 3
    assert any(same(one, other, inits=False) for one, other in different)


def test_what_a_rejected_block_has_read_is_forgotten() -> None:
    """Only what a block reads that stands may count as read: what nothing reads is shown as an output."""
    for seed in range(300):
        draft = begun(SeededSource(37, seed), SCHEDULABLE)
        for _ in range(3):
            draw_one(draft)
        blocks = [block for statement in draft.statements for block in nodes_of(statement, s_tir.SBlock)]
        assert draft.read <= {str(region.source.name) for block in blocks for region in block.reads}, seed


def test_a_draft_goes_back_to_what_it_held() -> None:
    draft = begun(SeededSource(31, 1), SCHEDULABLE)
    state = draft.state()
    names = {draft.new_name("x")}
    draw_pointwise(draft)
    draft.read.add("x")
    assert draft.state() != state
    draft.go_back(state)
    assert draft.state() == state and draft.new_name("x") not in names


def same(one: Any, other: Any, *, inits: bool = True) -> bool:
    """Whether two blocks do the same, each to a tensor and for axes of its own."""
    parts = ("body", "init") if inits else ("body",)
    pairs_of_parts = [(getattr(one, part), getattr(other, part)) for part in parts]
    return all(tvm_api.structural_equal(a, b, map_free_vars=True) for a, b in pairs_of_parts)
