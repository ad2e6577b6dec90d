"""Which rule of a search goes wrong: found by growing the search, since no traceback says it."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import tvm

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.cause.facts import cause_in
from fuzzer.trial.cause.rules import Taken, grown, rule_in, rule_that_raises
from fuzzer.trial.repertoire import Repertoire
from generators.case import PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call
from generators.passes.tuning import PREFIX
from generators.source import SeededSource
from oracles.broken import types_of
from oracles.reference.numbers import Numbers
from oracles.trace import Position, Raised, Step
from oracles.verdict import CRASH, DOES_NOT_BUILD, Failed
from oracles.walk import walk
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of

REPLAYS, EVOLVES = f"{PREFIX}.ReplayTrace[llvm]", f"{PREFIX}.EvolutionarySearch[llvm]"
FIRST_VALUE_APART = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def product(A: T.Buffer((4,)), B: T.Buffer((1,))):
        total = T.sblock_alloc_buffer(())
        with T.sblock("one"):
            T.reads()
            T.writes(total[()])
            total[()] = T.float32(1)
        for i in range(4):
            with T.sblock("times"):
                k = T.axis.reduce(4, i)
                T.reads(total[()], A[k])
                T.writes(total[()])
                total[()] = total[()] * A[k]
        for j in range(1):
            with T.sblock("copy"):
                v = T.axis.spatial(1, j)
                B[v] = total[()]
"""
DOUBLES = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(A: T.Buffer((64, 64)), B: T.Buffer((64, 64))):
        for i, j in T.grid(64, 64):
            with T.sblock("double"):
                v, w = T.axis.remap("SS", [i, j])
                B[v, w] = A[v, w] * T.float32(2)
"""


def bench_of(module: Any) -> Workbench:
    return Workbench(SeededSource(0), Numbers(module, ()), {}, "llvm")


def steps(text: str, name: str) -> tuple[list[Taken], Workbench]:
    module = module_of(text)
    bench = bench_of(module)
    start = Position.at(module, Phase.LEGAL)
    return [Taken(step, types_of(module)) for step in walk(start, [default_call(name)], PASSES, bench)], bench


@pytest.mark.parametrize("name", [REPLAYS, EVOLVES, "MetaScheduleApplyDatabase"])
def test_the_rule_that_raises_is_the_one_that_was_added_last(name: str) -> None:
    taken, bench = steps(FIRST_VALUE_APART, name)
    assert taken[0].step.error is not None
    assert rule_that_raises(iter(taken), bench) == f"{PREFIX}.InlineConstantScalars"


def test_one_mistake_of_a_rule_is_one_cause_in_every_search(tmp_path: Path) -> None:
    causes = set()
    for name in (REPLAYS, EVOLVES):
        taken, _ = steps(FIRST_VALUE_APART, name)
        error = taken[0].step.error
        assert error is not None
        case = Candidate(module_of(FIRST_VALUE_APART), (), (default_call(name),), ())
        failed = Failed(CRASH, error.message, error.traceback, name)
        plan = Plan(0, phase=int(Phase.LEGAL), scratch=str(tmp_path))
        causes.add(str(cause_in("survives", failed, name, case, plan, Repertoire(PASSES)).cause))
    (cause,) = causes
    assert cause.startswith(f"{PREFIX}.InlineConstantScalars: ")


ONES = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def ones(A: T.Buffer((8, 8), "bfloat16")):
        for i, j in T.grid(8, 8):
            with T.sblock("ones"):
                v, w = T.axis.remap("SS", [i, j])
                A[v, w] = T.bfloat16(1)

    @R.function
    def main() -> R.Tensor((8, 8), "bfloat16"):
        cls = Module
        out = R.call_tir(cls.ones, R.tuple(), out_ty=R.Tensor((8, 8), "bfloat16"))
        return out
"""


def test_a_pass_of_the_build_that_dies_of_a_schedule_is_the_cause_in_every_search(tmp_path: Path) -> None:
    causes = set()
    for name in (REPLAYS, EVOLVES, "MetaScheduleApplyDatabase"):
        (taken,), bench = steps(ONES, name)
        assert taken.step.after is not None and "T.vectorized(" in taken.step.after.script()
        raised = bench.guarded(functools.partial(tvm.compile, taken.step.after, "llvm"))
        assert isinstance(raised, Raised)
        case = Candidate(module_of(ONES), (), (default_call(name),), ())
        failed = Failed(DOES_NOT_BUILD, raised.message, raised.traceback, name)
        plan = Plan(0, phase=int(Phase.LEGAL), scratch=str(tmp_path))
        causes.add(str(cause_in("build", failed, name, case, plan, Repertoire(PASSES)).cause))
    (cause,) = causes
    assert cause.startswith("tirx.BF16StorageLegalize: ")


def test_what_raises_without_a_rule_is_not_of_that_rule() -> None:
    """A search that raises something else when it is short, and one that raises by its mutator alone."""
    call = default_call(EVOLVES)
    error, other = (Raised("ValueError", "no", traceback=f'  File "src/{name}.cc", line 1, in f\n') for name in "ab")
    step = SimpleNamespace(error=error, call=call, before=module_of(DOUBLES))
    taken = Taken(cast(Step, step), cast(Any, {}))

    def found(outcome: Any) -> str:
        return rule_that_raises(iter([taken]), cast(Workbench, SimpleNamespace(apply=outcome)))

    def by_mutator(tried: PassCall, module: tvm.IRModule) -> Any:
        return error if tried == call else module

    def as_of_another_kind(tried: PassCall, module: tvm.IRModule) -> Any:
        return Raised("TypeError", "no", traceback=other.traceback)

    assert found(by_mutator) == f"{PREFIX}.MutateTileSize"
    assert found(as_of_another_kind) == ""
    assert found(lambda tried, module: error) == f"{PREFIX}.ApplyCustomRule"


def test_a_wrong_result_is_of_the_part_of_the_search_that_makes_it() -> None:
    (taken,), bench = steps(DOUBLES, REPLAYS)

    def has_vectors(step: Step, _: Workbench) -> bool:
        return step.after is not None and "T.vectorized(" in step.after.script()

    rule = rule_in(taken, bench, has_vectors)
    assert rule is not None and rule.name == f"{PREFIX}.RewriteParallelVectorizeUnroll"
    assert has_vectors(rule.taken.step, bench)
    assert rule_in(taken, bench, lambda step, _: False) is None


def test_other_passes_do_not_grow() -> None:
    assert list(grown(default_call("LegalizeOps"))) == []
    names = [name.rpartition(".")[2] for name, _ in grown(default_call(EVOLVES))]
    assert names[0] == "ApplyCustomRule" and names[-1] == "MutateTileSize" and "RewriteLayout" in names
