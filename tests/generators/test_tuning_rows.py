"""The rows of MetaSchedule: they schedule a copy of what they get, the same way each time."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import subprocess
import sys

import pytest
import tvm

from generators import tvm_api
from generators.case import PassCall
from generators.passes.row import PassRow
from generators.passes.sequences import draw_names
from generators.passes.table import PASSES, TIR_PASSES, default_call
from generators.passes.tuning import PREFIX, ROWS, searched, shorter, with_first
from generators.source import SeededSource
from generators.targets import TARGETS
from tests.generators.shaped_programs import construct, legalised
from tests.oracles.oracle_bench import module_of
from tests.quick import one_in

SEEDS = 10
GOAL = 0.5
MARKS = {"llvm": ("T.parallel", "T.vectorized", "pragma_auto_unroll"), "cuda": ('"threadIdx.x"', '"blockIdx.x"')}
"""What the rules of each set write into some of the functions."""

REFUSALS = (ValueError, TypeError, RuntimeError, tvm.error.InternalError, tvm.s_tir.ScheduleError)
"""What passes die of on some programs; that is for the oracles to say. Threads of a search raise RuntimeError."""


def target_of(row: PassRow) -> str:
    return "cuda" if row.name.endswith("[cuda]") else "llvm"


def test_each_search_has_a_row_for_each_set_of_rules() -> None:
    assert {row.name for row in ROWS} == {
        *(f"{PREFIX}.ReplayTrace[{rules}]" for rules in ("llvm", "hexagon", "cuda")),
        *(f"{PREFIX}.EvolutionarySearch[{rules}]" for rules in ("llvm", "cuda")),
        "MetaScheduleApplyDatabase",
    }
    assert {row.name for row in ROWS} <= set(PASSES) & set(TIR_PASSES)
    assert all(len(set(row.sources)) == len(row.sources) >= 6 for row in ROWS)


OFTEN = ("MetaScheduleApplyDatabase",)


@pytest.mark.parametrize(
    "row",
    [row if row.name in OFTEN else pytest.param(row, marks=pytest.mark.deep) for row in ROWS],
    ids=lambda row: row.name,
)
def test_a_search_schedules_a_copy(row: PassRow) -> None:
    changed, texts = 0, ""
    for index in range(SEEDS):
        made = construct(row.sources[index % len(row.sources)])
        with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
            module = legalised(row, index)
            before = tvm_api.structural_hash(module)
            try:
                after, again = made(module), made(module)
            except REFUSALS:
                continue
        assert tvm_api.structural_hash(module) == before
        assert tvm_api.structural_equal(after, again, map_free_vars=True)
        changed += not tvm_api.structural_equal(module, after, map_free_vars=True)
        texts += after.script()
    assert changed >= GOAL * SEEDS
    assert all(mark in texts for mark in MARKS[target_of(row)])


ANOTHER_PROCESS = """
import sys
sys.path.insert(0, {root!r})
from generators import tvm_api
from tests.generators.test_tuning_rows import REFUSALS, ROWS, TARGETS, construct, legalised, target_of, tvm
for row in ROWS:
    with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
        for index in range(8):
            try:
                made = construct(row.sources[-1])(legalised(row, index))
            except REFUSALS as error:
                print(type(error).__name__)
            else:
                print(tvm_api.structural_hash(made))
"""


@pytest.mark.deep
def test_a_candidate_follows_from_its_seed() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = ANOTHER_PROCESS.format(root=root)
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert sum(word.lstrip("-").isdigit() for word in told[0].split()) >= 3 * len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_it_schedules_is_marked_and_only_for_its_own_target(row: PassRow) -> None:
    """The mark that MetaScheduleApplyDatabase and dlight set, by which no rule schedules a function again."""
    mine = target_of(row)
    (other,) = {"llvm", "cuda"} - {mine}
    made = construct(row.sources[0])
    with tvm.target.Target(eval(TARGETS[mine].source)):
        module = legalised(row, 0)
        done = made(module)
        scheduled = [
            g for g, f in module.functions.items() if not tvm_api.structural_equal(f, done[g], map_free_vars=True)
        ]
        assert scheduled and all(done[g].attrs["tirx.is_scheduled"] for g in scheduled)
        assert tvm_api.structural_equal(made(done), done, map_free_vars=True)
    with tvm.target.Target(eval(TARGETS[other].source)):
        assert tvm_api.structural_equal(made(module), module, map_free_vars=True)


@pytest.mark.parametrize("row", one_in(2, ROWS), ids=lambda row: row.name)
def test_a_search_grows_rule_by_rule(row: PassRow) -> None:
    call = PassCall(row.name, row.sources[0])
    made_of = searched(call)
    assert made_of is not None and f"[{made_of.rules}]" in row.name + "[llvm]"
    assert bool(made_of.mutator) == ("Evolutionary" in row.name)
    steps = list(shorter(call, ("A", "B"), ("P",)))
    assert [name for name, _ in steps] == [f"{PREFIX}.{name}" for name in "ABP"]
    assert all("mutator_probs={}" in step.source for _, step in steps)
    with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
        module = legalised(row, 0)
        for count in (1, 99):
            whole = construct(with_first(call, count, count).source)(module)
            again = construct(with_first(call, count, count).source)(module)
            assert tvm_api.structural_equal(whole, again, map_free_vars=True)
        if not made_of.mutator:
            assert tvm_api.structural_equal(whole, construct(call.source)(module), map_free_vars=True)


def test_other_passes_are_no_searches() -> None:
    assert searched(default_call("LegalizeOps")) is None


def test_a_function_that_somebody_has_scheduled_stays() -> None:
    row = next(row for row in ROWS if row.name.endswith("ReplayTrace[llvm]"))
    with tvm.target.Target(eval(TARGETS["llvm"].source)):
        once = construct(row.sources[0])(legalised(row, 0))
        assert "T.parallel(" in once.script()
        assert tvm_api.structural_equal(construct(row.sources[1])(once), once, map_free_vars=True)


def test_a_function_of_symbolic_shapes_stays() -> None:
    dynamic = module_of(
        "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main(a: T.handle, b: T.handle):\n"
        "        n = T.int64()\n        A = T.match_buffer(a, (n,))\n        B = T.match_buffer(b, (n,))\n"
        "        for i in range(n):\n            with T.sblock('double'):\n                v = T.axis.spatial(n, i)\n"
        "                B[v] = A[v] * T.float32(2)\n"
    )
    static = module_of(
        "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
        "    def main(A: T.Buffer((64,)), B: T.Buffer((64,))):\n"
        "        for i in range(64):\n            with T.sblock('double'):\n                v = T.axis.spatial(64, i)\n"
        "                B[v] = A[v] * T.float32(2)\n"
    )
    for row in ROWS:
        transform = construct(row.sources[0])
        with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
            assert "T.sblock" in transform(dynamic).script()
            if row.name.startswith(PREFIX):
                assert tvm_api.structural_equal(transform(dynamic), dynamic, map_free_vars=True)
                assert not tvm_api.structural_equal(transform(static), static, map_free_vars=True)


def test_threads_are_bound_for_targets_that_have_them() -> None:
    for index in range(600):
        for step in draw_names(SeededSource(5, index), PASSES, kinds=("single",), target=TARGETS["llvm"]):
            assert not (step.name.startswith(PREFIX) and step.name.endswith("[cuda]"))
