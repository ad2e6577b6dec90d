"""Which programs the cases of a campaign get: shapes for their passes, drawn PrimFuncs, schedules."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("TVM_NUM_THREADS", "1")


import pytest

from fuzzer.protocol import Plan
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import judge
from fuzzer.trial.options import options_of
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import draw_experiment
from fuzzer.worker.knobs import KNOBS
from fuzzer.worker.plantings import Planting, draw_plantings
from generators.passes.loaded import rows_from_contracts
from generators.passes.row import Role
from generators.passes.table import PASSES, the
from generators.program import Program
from generators.program_facts import Feature
from generators.recipes.recipe import Recipe
from generators.source import SeededSource
from generators.tir.relax_caller import CALLED
from generators.unavailable import Unavailable
from oracles.oracle import StepOracle
from oracles.table import ORACLES
from tests.quick import one_in

SCHEDULE = the(Role.SCHEDULES).name

CASES = 60


def drawn(plan: Plan, cases: int = CASES) -> list[tuple[Experiment, Program]]:
    repertoire = repertoire_of(plan)
    found = []
    for index in range(cases):
        try:
            case = draw_experiment(plan, repertoire, index)
        except Unavailable:
            continue
        found.append((case.experiment, case.program))
    return found


def of_prim_funcs(cases: list[tuple[Experiment, Program]]) -> float:
    """The share of the cases whose program is a drawn PrimFunc."""
    names = [[variable.name_hint for variable in program.module.functions] for _, program in cases]
    return sum(CALLED in found for found in names) / len(cases)


def of_all(rest: float) -> float:
    """The share of drawn PrimFuncs where some programs are shapes whose order matters, and `rest` of the others."""
    return KNOBS.prim_func.in_order + (1 - KNOBS.prim_func.in_order) * rest


def test_most_programs_for_passes_of_tir_are_drawn_prim_funcs() -> None:
    share = of_prim_funcs(drawn(Plan(3, under_test=("tirx.UnrollLoop",))))
    assert abs(share - of_all(KNOBS.prim_func.lowering)) < 0.2


@pytest.mark.parametrize("name", ["tirx.StmtSimplify", "sym.Analyzer[simplify]"])
def test_most_programs_for_rewrites_of_integers_go_through_small_ranges(name: str) -> None:
    cases = drawn(Plan(3, under_test=(name,), kinds=("single",)))
    small = [case for case in cases if "integers" in case[1].features and of_prim_funcs([case])]
    assert 0.7 * KNOBS.prim_func.integers < len(small) / len(cases) < 1.3 * KNOBS.prim_func.integers
    assert all([call.name for call in experiment.passes] == [name] for experiment, _ in small)


@pytest.mark.parametrize(
    ("contract", "share"),
    [("any", of_all(KNOBS.prim_func.lowering)), ("sblock", of_all(KNOBS.prim_func.scheduled)), (None, 0)],
)
def test_loaded_passes_of_tir_get_drawn_prim_funcs_too(tmp_path: Path, contract: str | None, share: float) -> None:
    file = tmp_path / "mine.py"
    promises = {"phase": "tir", "form": contract} if contract else {"phase": "legalized"}
    file.write_text(
        "import tvm\nPASSES = {'Mine': lambda: tvm.tirx.transform.StmtSimplify()}\n"
        f"CONTRACTS = {{'Mine': {promises}}}\n"
    )
    assert abs(of_prim_funcs(drawn(Plan(3, load=str(file), under_test=("Mine",)))) - share) < 0.2


def test_few_of_those_for_relax_are() -> None:
    assert of_prim_funcs(drawn(Plan(3, under_test=("FoldConstant",)))) < 0.15


def test_most_cases_end_with_what_is_under_test() -> None:
    name = "EliminateCommonSubexpr"
    last = [experiment.passes[-1].name for experiment, _ in drawn(Plan(3, under_test=(name,)), 120)]
    assert 1 - 2 * KNOBS.tail < last.count(name) / len(last) < 1


def test_of_passes_that_are_not_under_test_only_what_ends_a_case_is_asked() -> None:
    """Their other failures do not count, and a pipeline has twenty passes."""
    plan = Plan(3, under_test=("EliminateCommonSubexpr",))
    repertoire = repertoire_of(plan)
    heard: set[tuple[str, bool]] = set()

    def hear(oracle: str, name: str | None, _verdict: object) -> None:
        if name is not None:
            heard.add((oracle, name in plan.under_test))

    for index in range(20):
        case = draw_experiment(plan, repertoire, index)
        judge(case.experiment, replace(options_of(plan, repertoire), on_verdict=hear), case.source)
    mine, others = ({oracle for oracle, asked in heard if asked is of_mine} for of_mine in (True, False))
    ending = {row.name for row in ORACLES.values() if isinstance(row, StepOracle) and row.ends_case}
    assert "survives" in others and others <= ending
    assert mine - ending


def test_a_schedule_comes_with_its_program() -> None:
    cases = drawn(Plan(3, under_test=(SCHEDULE,)), 20)
    assert cases
    for experiment, program in cases:
        first = experiment.passes[0]
        assert first.name == SCHEDULE
        assert all(step in first.source for step in program.facts.schedule)


def test_schedules_are_drawn_where_everything_is_under_test_or_they_are() -> None:
    def scheduled(plan: Plan) -> int:
        return sum(any(call.name == SCHEDULE for call in (*e.setup, *e.passes)) for e, _ in drawn(plan))

    assert scheduled(Plan(3))
    assert not scheduled(Plan(3, under_test=("FoldConstant",)))


@pytest.mark.parametrize("name", one_in(3, ["FuseTransposeMatmul", "CombineParallelMatmul", "FoldBatchnormToConv2D"]))
def test_most_programs_have_a_shape_of_the_pass(name: str) -> None:
    shapes = set(PASSES[name].fires.recipes)
    programs = [program for _, program in drawn(Plan(4, under_test=(name,), kinds=("single",)))]
    assert sum(bool(shapes & program.features) for program in programs) > 0.6 * len(programs)


def test_pipelines_have_shapes_for_steps_that_seldom_fire() -> None:
    seldom = {name for name in ("ComputePrimValue", "DispatchSampling", "RewriteDataflowReshape")}
    programs = [program for _, program in drawn(Plan(4, kinds=("pipeline",)))]
    for name in seldom:
        shaped = sum(bool(set(PASSES[name].fires.recipes) & program.features) for program in programs)
        assert shaped > 0.15 * len(programs), name


def test_recipes_share_a_block_unless_they_need_two_kinds() -> None:
    anywhere, plain, dataflow = (
        Recipe("anywhere", lambda scope: None),
        Recipe("plain", lambda scope: None, plain=True),
        Recipe("dataflow", lambda scope: None, dataflow=True),
    )
    assert Planting((anywhere,)).takes(plain) and Planting((anywhere,)).takes(dataflow)
    assert not Planting((anywhere, plain)).takes(dataflow)
    assert not Planting((dataflow,)).takes(plain)
    assert not Planting((anywhere,)).takes(Recipe("other", lambda scope: None, wants=Feature.SCALAR_LOSS))
    assert Planting((anywhere, plain)).plain and not Planting((anywhere, plain)).dataflow


def test_dtypes_count_where_a_loaded_pass_names_no_operator() -> None:
    """Then some programs hold chains on these, most hold another shape."""
    row = rows_from_contracts(["Mine"], {})["Mine"]
    row = replace(row, fires=replace(row.fires, vocabulary=replace(row.fires.vocabulary, dtypes=("int8",))))
    planted = [draw_plantings(SeededSource(2, seed), [row], set()) for seed in range(200)]
    named = sum(any("Mine" in r.name for planting in each for r in planting.recipes) for each in planted)
    assert 20 < named < 120
