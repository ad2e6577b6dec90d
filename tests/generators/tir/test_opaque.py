"""Functions without blocks: plain ones hold nothing unusual, all kinds occur, neighbours have to do with each other."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from tvm import s_tir, tirx

from generators import tvm_api
from generators.source import SeededSource
from generators.tir import accumulations
from generators.tir.function_draft import Unfit
from generators.tir.functions import draw_prim_func
from generators.tir.knobs import DEFAULT
from generators.tir.opaque import draw_sequence
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.surroundings import among
from generators.tir.site import Site
from generators.tir.swarm import EVERY, draw_unusual
from oracles.ir.walk import nodes_of
from oracles.reference.tir import run_prim_func

SEEDS = 200
KNOBS = replace(DEFAULT, forms=replace(DEFAULT.forms, opaque=1.0, dead=0.0))
NEVER_PLAIN = replace(KNOBS, forms=replace(KNOBS.forms, plain=0.0))
UNUSUAL_NODES = (
    tirx.Let,
    tirx.While,
    tirx.Bind,
    tirx.DeclBuffer,
    tirx.Ramp,
    tirx.Broadcast,
    tirx.AssertStmt,
    s_tir.SBlock,
)
UNUSUAL_CALLS = {"tirx.break_loop", "tirx.continue_loop", "tirx.likely", "tirx.if_then_else"}
KINDS = (
    *(
        "perfect_nest",
        "inner_loop",
        "guarded_store",
        "serial_row",
        "accumulate",
        "chain",
        "recurrence",
        "gate",
        "scratch",
    ),
    *("shifted_loop", "if_then_else_statement", "while", "jump", "bind", "view", "lanes", "vectorized", "parallel"),
    *("unrolled", "assert", "loop_step", "triangular_loop", "let", "likely", "loops_in_a_block"),
    *("in_place_stencil", "masked", "else_if", "loop_from_another"),
)


@cache
def drawn(seed: int) -> PrimProgram:
    """A function without blocks."""
    return draw_prim_func(SeededSource(23, seed), KNOBS)


def nodes(statement: Any, kind: Any) -> list[Any]:
    found: list[Any] = []
    tvm_ffi.structural_walk(statement, (kind, found.append), order="post")
    return found


def unusual(program: PrimProgram) -> list[Any]:
    """What a plain function may not hold."""
    body = program.func.body
    loops = nodes(body, tirx.For)
    return [
        *(node for kind in UNUSUAL_NODES for node in nodes(body, kind)),
        *(call for call in nodes(body, tvm_api.Call) if tvm_api.op_name(call) in UNUSUAL_CALLS),
        *(loop for loop in loops if loop.kind != tirx.ForKind.SERIAL or loop.step is not None or loop.annotations),
    ]


def sequences(program: PrimProgram) -> list[list[Any]]:
    return [list(node.seq) for node in nodes(program.func.body, tirx.SeqStmt)]


def test_plain_functions_hold_nothing_unusual() -> None:
    plain = [seed for seed in range(SEEDS) if "plain" in drawn(seed).features]
    assert 0.4 * SEEDS < len(plain) < 0.6 * SEEDS
    assert [seed for seed in plain if unusual(drawn(seed))] == []


def test_the_others_hold_some_unusual_kinds_and_not_all() -> None:
    others = [seed for seed in range(SEEDS) if "plain" not in drawn(seed).features]
    assert sum(bool(unusual(drawn(seed))) for seed in others) > 0.6 * len(others)
    drawn_kinds = [draw_unusual(SeededSource(1, index), NEVER_PLAIN) for index in range(50)]
    assert all(kinds < EVERY for kinds in drawn_kinds) and len(set(drawn_kinds)) > 40
    assert frozenset().union(*drawn_kinds) == EVERY


def test_functions_are_well_formed_and_run() -> None:
    for seed in range(SEEDS):
        program = drawn(seed)
        assert s_tir.analysis.verify_well_formed(program.func, assert_mode=False), seed
        arguments = program.fresh_arguments()
        run_prim_func(
            program.func, arguments, program.initialised()
        )  # raises where one reads out of bounds, or unwritten memory
        for number in program.outputs:
            values, declared = arguments[number].astype("float64"), program.parameters[number].range
            finite = values[np.isfinite(values)]
            exact = "special_values" not in program.features and finite.size
            assert not exact or declared.low <= finite.min() <= finite.max() <= declared.high, seed


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_statement_is_drawn(kind: str) -> None:
    assert any(kind in drawn(seed).features for seed in range(SEEDS))


def test_steps_end_at_the_end_of_a_loop_or_beyond_it() -> None:
    stepped = [
        loop for seed in range(SEEDS) for loop in nodes(drawn(seed).func.body, tirx.For) if loop.step is not None
    ]
    beyond = [loop for loop in stepped if int(loop.extent.value) % int(loop.step.value)]
    assert len(stepped) // 5 < len(beyond) < len(stepped)


def test_stencils_read_what_their_own_loops_store() -> None:
    """An element next to the one that is stored, in the nest of loops around it."""
    found = 0
    for seed in range(SEEDS):
        for store in nodes(drawn(seed).func.body, tirx.BufferStore):
            loads = [at for at in nodes(store.value, tvm_api.TensorLoad) if at.source.same_as(store.buffer)]
            found += any(isinstance(index, tirx.Add) for at in loads for index in at.indices)
    assert found > SEEDS // 10


def test_neighbours_have_to_do_with_each_other() -> None:
    """Equal headers, equal conditions, and an element that is stored and then loaded, each side by side."""
    counts: Counter[str] = Counter()
    equal = tvm_ffi.structural_equal
    for seed in range(SEEDS):
        found = set()
        for one, other in (pair for statements in sequences(drawn(seed)) for pair in pairwise(statements)):
            match one, other:
                case tirx.For(), tirx.For() if equal(one.extent, other.extent) and equal(one.min, other.min):
                    found.add("loops")
                case tirx.IfThenElse(), tirx.IfThenElse() if equal(one.condition, other.condition):
                    found.add("branches")
                case tirx.BufferStore(), tirx.BufferStore():
                    loads = [load for load in nodes(other.value, tvm_api.TensorLoad) if load.source.same_as(one.buffer)]
                    if any(equal(list(load.indices), list(one.indices)) for load in loads):
                        found.add("elements")
        counts.update(found)
    assert counts["loops"] > 0.3 * SEEDS
    assert counts["branches"] > 0.03 * SEEDS
    assert counts["elements"] > 0.15 * SEEDS


def is_dense(buffer: Any) -> bool:
    """Whether its elements follow each other in memory, in order."""
    following, dense = 1, True
    for length, stride in reversed(list(zip(map(int, buffer.shape), map(int, buffer.strides), strict=True))):
        dense = dense and (length == 1 or stride == following)
        following *= length
    return dense


def test_a_view_counts_as_strided_where_its_elements_lie_apart_or_in_another_order() -> None:
    strided = 0
    for seed in range(600):
        program = draw_prim_func(SeededSource(19, seed), NEVER_PLAIN)
        views = [node.buffer for node in nodes_of(program.func.body, tirx.DeclBuffer)]
        apart = any(not is_dense(view) for view in views if len(view.strides))
        assert apart == ("view_strided" in program.features), seed
        strided += apart
    assert strided > 5


def test_an_accumulation_that_does_not_fit_leaves_no_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def unfit(*_: object) -> None:
        raise Unfit("never")

    def planted(site: Site) -> Any:
        site.draft.features.discard("accumulation")
        monkeypatch.setattr(accumulations, "store", unfit)
        monkeypatch.setattr(accumulations, "_can_hold", lambda *_: False)
        with pytest.raises(Unfit):
            accumulations.draw_accumulation(site, draw_sequence)
        monkeypatch.undo()
        tried.append("accumulation" in site.draft.features)
        return draw_sequence(site)

    for seed in range(20):
        among(SeededSource(3, seed), planted)
    assert tried == [False] * 20


def _adds_to(statement: Any) -> Any:
    """The buffer and the index that a loop of one store adds to, or takes the greatest or least at; None elsewhere."""
    if not isinstance(statement, tirx.For) or not isinstance(body := statement.body, tirx.BufferStore):
        return None
    if not isinstance(body.value, (tirx.Add, tirx.Max, tirx.Min)) or not isinstance(body.value.a, tvm_api.TensorLoad):
        return None
    there = tirx.BufferLoad(body.buffer, body.indices)
    return there if tvm_api.structural_equal(body.value.a, there) else None


def test_sums_begin_with_an_element_with_a_number_and_with_what_is_there() -> None:
    """In the element that they are for: who takes them into a register must begin with what is there."""
    begins = Counter[str]()
    for sequence in (one for seed in range(SEEDS) for one in sequences(drawn(seed))):
        for before, loop in pairwise(sequence):
            if (there := _adds_to(loop)) is None or str(there.source.name).startswith("acc"):
                continue
            starts = isinstance(before, tirx.BufferStore) and tvm_api.structural_equal(
                tirx.BufferLoad(before.buffer, before.indices), there
            )
            begins[type(before.value).__name__ if starts else "there"] += 1
    assert begins["TensorLoad"] > 2 and begins["there"] > 2
    assert begins["FloatImm"] + begins["IntImm"] >= 1
