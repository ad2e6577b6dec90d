"""`run --corpus DIR`: a share of the cases starts from the modules in DIR; what is of no use is counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from corpus.scripts.module_text import live_module
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase, read_case, write_case
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.plan import plan_of
from fuzzer.protocol import Plan
from fuzzer.settings import read_settings
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import DrawnCase, draw_experiment, origin_of
from fuzzer.worker.knobs import KNOBS
from fuzzer.worker.seeds import SeedProgram
from generators import tvm_api as T
from generators.case import Case, ModuleText
from generators.program import Program
from reports.markdown import render
from reports.summary import Report, RunFacts

pytestmark = pytest.mark.warm

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 5), "float32"), y: R.Tensor((3, 5), "float32")) -> R.Tensor((3, 5), "float32"):
        with R.dataflow():
            z: R.Tensor((3, 5), "float32") = R.subtract(x, y)
            R.output(z)
        return z
"""
LOWERED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"relax.force_pure": True})
        y: R.Tensor((4,), "float32") = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
        return x
"""
UNKNOWN = MODULE.replace(
    "R.subtract(x, y)", 'R.call_dps_packed("nobody_knows_this", (x, y), out_ty=R.Tensor((3, 5), "float32"))'
)
KERNEL = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in T.thread_binding(4, thread="threadIdx.x"):
            y[i] = x[i] + x[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_tir(Module.double, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""
PASS = """
import tvm

@tvm.transform.module_pass(opt_level=0, name="Mine")
def mine(mod, context):
    for name, function in mod.functions.items():
        if name.name_hint == "main" and str(function.ret_ty) == 'R.Tensor((3, 5), dtype="float32")':
            function.what_the_seed_brings_about
    return mod

PASSES = {"Mine": lambda: mine}
"""


def put(seeds: Path, name: str, script: str = MODULE) -> None:
    stored = StoredCase(Case(ModuleText(script), ()), name, "survives", "crash", "Normalize")
    write_case(seeds / name, stored, repro_text(stored), "a seed", made_here=True)


def cases_of(plan: Plan, indices: range) -> list[DrawnCase]:
    repertoire = repertoire_of(plan)
    return [draw_experiment(plan, repertoire, index) for index in indices]


def drawn(plan: Plan, indices: range) -> list[tuple[Experiment, Program]]:
    return [(case.experiment, case.program) for case in cases_of(plan, indices)]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    put(tmp_path / "seeds", "one")
    return Plan(3, under_test=("Normalize",), corpus=str(tmp_path / "seeds"))


def test_a_share_of_the_cases_starts_from_the_seed(plan: Plan) -> None:
    cases = drawn(plan, range(60))
    seeded = [(experiment, program) for experiment, program in cases if isinstance(program, SeedProgram)]
    assert 0.5 * KNOBS.seed.share < len(seeded) / len(cases) < 2 * KNOBS.seed.share
    seed = live_module(ModuleText(MODULE))
    for experiment, program in seeded:
        assert T.structural_equal(experiment.module, seed)
        assert Path(program.folder).name == "one"
        assert {argument.shape for call in experiment.calls for argument in call.arguments} == {(3, 5)}
    inputs = {repr(call.arguments) for experiment, _ in seeded for call in experiment.calls}
    assert len(inputs) > len(seeded) / 2


def test_a_case_from_a_seed_depends_on_seed_and_index_alone(plan: Plan) -> None:
    for index in range(12):
        one, other = (drawn(plan, range(index, index + 1))[0][0] for _ in range(2))
        assert T.structural_equal(one.module, other.module)
        assert (one.setup, one.passes, repr(one.calls)) == (other.setup, other.passes, repr(other.calls))


def test_without_a_corpus_nothing_starts_from_a_seed(plan: Plan) -> None:
    cases = drawn(Plan(plan.seed, under_test=plan.under_test), range(20))
    assert not any(isinstance(program, SeedProgram) for _, program in cases)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (LOWERED, "no sequence starts from its phase"),
        (UNKNOWN, "reference: packed function nobody_knows_this"),
        (KERNEL, "made for another device"),
        (MODULE.replace("return z", "return nobody"), "this TVM cannot read its module"),
    ],
)
def test_a_seed_of_no_use_is_counted_and_costs_no_case(tmp_path: Path, script: str, reason: str) -> None:
    put(tmp_path, "useless", script)
    cases = cases_of(Plan(3, under_test=("Normalize",), corpus=str(tmp_path)), range(12))
    assert not any(isinstance(case.program, SeedProgram) for case in cases)
    assert sum(case.left_out[reason] for case in cases) > 0
    assert all(case.experiment.calls for case in cases)


def test_a_corrupt_seed_does_not_stop_the_others(plan: Plan, tmp_path: Path) -> None:
    put(tmp_path / "seeds", "corrupt")
    (tmp_path / "seeds" / "corrupt" / "case.json").write_text("{")
    cases = cases_of(plan, range(60))
    assert any(isinstance(case.program, SeedProgram) for case in cases)
    assert any(case.left_out["its case folder cannot be read"] for case in cases)


def test_a_finding_from_a_seed_says_so(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PASS)
    put(tmp_path / "seeds", "lowered", LOWERED)
    out = tmp_path / "out"
    settings = read_settings(
        passes="Mine", load=tmp_path / "mine.py", corpus=Path(str(plan.corpus)), seed=2, cases=12, out=out, jobs=1,
        oracles="survives",
    )  # fmt: skip
    result = run_campaign(settings, Observers())
    assert 0 < result.tally.seeded < result.tally.cases
    assert result.tally.skipped["seed left out: no sequence starts from its phase"] > 0
    (finding,) = result.findings
    assert (finding.culprit, finding.symptom) == ("Mine", "crash")
    stored = read_case(out / finding.case).case.origin
    assert (Path(str(stored.file)).name, stored.seed) == ("one", 2)
    assert "which starts from" in (out / finding.case / "README.md").read_text()
    text = render(Report(RunFacts("", "", 2, ("llvm",), 1.0), result.tally, ()))
    assert f", {result.tally.seeded} from modules of --corpus" in text


def test_the_plan_has_the_corpus_of_the_settings(tmp_path: Path) -> None:
    settings = read_settings(corpus=tmp_path, seed=1, out=tmp_path / "out")
    plan = plan_of(settings, tmp_path)
    assert plan.corpus == str(tmp_path)


def test_where_a_case_comes_from(plan: Plan) -> None:
    for index, (_, program) in enumerate(drawn(plan, range(8))):
        origin = origin_of(plan, index, program)
        assert (origin.seed, origin.index) == (plan.seed, index)
        assert (origin.file is not None) == isinstance(program, SeedProgram)


def test_the_corpus_stays_as_it_is(plan: Plan, tmp_path: Path) -> None:
    shutil.copytree(str(plan.corpus), tmp_path / "copy")
    drawn(plan, range(8))
    for file in (tmp_path / "copy").rglob("*.*"):
        assert (Path(str(plan.corpus)) / file.relative_to(tmp_path / "copy")).read_bytes() == file.read_bytes()
    assert read_case(tmp_path / "seeds" / "one").title == "one"
