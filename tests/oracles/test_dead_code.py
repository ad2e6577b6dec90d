"""Dead PrimFuncs next to live functions: a pass that minds them is seen, one that does not is left alone; a
script shows it again."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm import relax

from corpus.scripts.module_text import text_of
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase, write_case
from generators import tvm_api
from generators.case import Case, PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.tir.dead_prim_func import with_dead_prim_func
from generators.tir.functions import draw_prim_func
from generators.tir.relax_caller import wrapped
from oracles.checks import dead_code
from oracles.evidence import WithoutDead
from oracles.ir.compare import global_vars, rebuilt
from oracles.verdict import Failed, Passed, Skipped
from tests.oracles.oracle_bench import RealBench, module_pass, step_of
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

SEEDS = 12
CLEAN = (
    "relax.transform.LegalizeOps()",
    "relax.transform.DeadCodeElimination()",
    "relax.transform.CanonicalizeBindings()",
    "relax.transform.AnnotateTIROpPattern()",
    "tirx.transform.StmtSimplify()",
)


def modules() -> list[Any]:
    """Programs of operators and of drawn PrimFuncs, each with a dead PrimFunc."""
    drawn = []
    for seed in range(SEEDS):
        source = SeededSource(17, seed)
        program = wrapped(draw_prim_func(source)) if seed % 2 else draw_program(source)
        drawn.append(with_dead_prim_func(source, program).module)
    return drawn


def with_attribute(module: Any, value: int) -> Any:
    main = module["main"].with_attr("seen", value)
    functions = {gvar: main if gvar.name_hint == "main" else f for gvar, f in module.functions.items()}
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def counts_prim_funcs(module: Any) -> Any:
    """Writes into main how many PrimFuncs there are."""
    return with_attribute(module, sum(isinstance(f, tvm.tirx.PrimFunc) for f in module.functions.values()))


def wants_another(module: Any) -> Any:
    """Dies unless some function is next to main."""
    others = [f for gvar, f in module.functions.items() if gvar.name_hint != "main"]
    return with_attribute(module, len(others[:1])) if others[0] else module


def judged(call: PassCall, module: Any, phase: Phase = Phase.HIGH) -> Any:
    bench = RealBench()
    return dead_code.judge(step_of(call, module, bench, phase=phase), bench)


def test_a_dead_function_is_one_that_no_public_one_reaches() -> None:
    for module in modules():
        names = {gvar.name_hint for gvar in dead_code.dead_names(module)}
        assert any(name.startswith("dead_prim") for name in names)
        assert "main" not in names and "prim" not in names
        left = dead_code.without(module, dead_code.dead_names(module))
        assert dead_code.dead_names(left) == []


def test_a_pass_that_minds_dead_functions_is_found() -> None:
    for module in modules():
        verdict = judged(module_pass(counts_prim_funcs, "Counts"), module)
        assert isinstance(verdict, Failed)
        assert verdict.symptom == "dead code" and verdict.evidence == WithoutDead()
        assert verdict.message.startswith("without dead functions ")
        assert "in the live part is another" in verdict.message


def test_a_pass_that_needs_a_dead_function_is_found() -> None:
    alone = [m for m in modules() if len(m.functions) - len(dead_code.dead_names(m)) == 1]
    assert alone
    verdict = judged(module_pass(wants_another, "Wants"), alone[0])
    assert isinstance(verdict, Failed) and "raises IndexError" in verdict.message


DEAD_CALLER = """
@I.ir_module
class Module:
    @R.function(private=True)
    def shared(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.negative(x)
        return y

    @R.function(private=True)
    def dead(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = Module.shared(x)
        return y

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = Module.shared(x)
        return y
"""


def without_dead(module: Any) -> Any:
    return dead_code.without(module, dead_code.dead_names(module))


def counts_callers(module: Any) -> Any:
    """Writes into main how many functions call the shared one."""
    return with_attribute(module, sum(any(v.name_hint == "shared" for v in global_vars(f)) for f in functions(module)))


def functions(module: Any) -> list[Any]:
    return [f for f in module.functions.values() if isinstance(f, relax.Function)]


def test_a_dead_caller_of_a_function_that_lives_may_count() -> None:
    module = tvm_api.module_from_script(DEAD_CALLER)
    dead = dead_code.dead_names(module)
    assert [gvar.name_hint for gvar in dead] == ["dead"] and dead_code.refer_to_live(module, dead)
    assert isinstance(judged(module_pass(counts_callers, "Callers"), module), Passed)
    assert isinstance(judged(module_pass(counts_prim_funcs, "Counts"), modules()[0]), Failed)


BRANCHES = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), b: R.Tensor((), "bool")):
        if b:
            y = R.negative(x)
            z = y
        else:
            w = R.abs(x)
            z = w
        return z
"""


def coarsely_typed() -> Any:
    """The result of the branches is said to have any extent."""
    module = tvm.script.from_source(BRANCHES)
    coarse = relax.TensorType(dtype="float32", ndim=1)
    z = relax.Var("z", coarse)
    main = tvm_ffi.structural_map(module["main"], (relax.Var, lambda var: z if var.name == "z" else var))
    body = relax.SeqExpr(main.body.blocks, z)
    relax.expr._update_type(body, coarse)
    return tvm.IRModule({"main": relax.Function(main.params, body, coarse).with_attr("global_symbol", "main")})


def rebuilds_where_a_function_is_private(module: Any) -> Any:
    private = any(not tvm_api.is_public(function) for function in module.functions.values())
    module = rebuilt(module) if private else module
    return with_attribute(module, len(str(module["main"].ret_ty)))  # What later passes do follows from the types.


def test_a_pass_that_rebuilds_all_where_it_finds_work_is_left_alone() -> None:
    """The types that it sharpens by the way do not count."""
    module = coarsely_typed()
    assert not tvm_api.structural_equal(rebuilt(module), module)
    assert isinstance(judged(module_pass(rebuilds_where_a_function_is_private, "Rebuilds"), module), Passed)


@pytest.mark.parametrize("source", PASSES["NormalizeGlobalVar"].sources)
def test_the_symbol_that_a_step_of_ours_gives_may_follow_from_dead_functions(source: str) -> None:
    """A private function gets the name of the last one, which a dead copy with a later name is."""
    bench, row = RealBench(), PASSES["NormalizeGlobalVar"]
    module = without_dead(tvm_api.module_from_script(DEAD_CALLER))
    verdict = dead_code.judge(step_of(PassCall(row.name, source), module, bench, row), bench)
    assert isinstance(verdict, Skipped) and not verdict.applies


@pytest.mark.parametrize("source", CLEAN)
def test_clean_passes_are_left_alone(source: str) -> None:
    verdicts = [judged(PassCall("Clean", source), module) for module in modules()]
    assert all(isinstance(verdict, (Passed, Skipped)) for verdict in verdicts), verdicts
    assert any(isinstance(verdict, Passed) for verdict in verdicts)


FAULT = """import tvm

@tvm.transform.module_pass(opt_level=0, name="Counts")
def counts(module, context):
    count = sum(isinstance(f, tvm.tirx.PrimFunc) for f in module.functions.values())
    functions = {g: f.with_attr("seen", count if BROKEN else 0) for g, f in module.functions.items()}
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)

PASSES = {"Counts": lambda: counts}
"""


@pytest.mark.parametrize(("broken", "status"), [("True", 1), ("False", 0)])
def test_a_script_shows_it_again(tmp_path: Path, broken: str, status: int) -> None:
    faults = tmp_path / "faults.py"
    faults.write_text(FAULT.replace("BROKEN", broken))
    module = with_dead_prim_func(SeededSource(2, 0), wrapped(draw_prim_func(SeededSource(2, 1)))).module
    case = Case(text_of(module), (PassCall("Counts", "loaded.PASSES['Counts']()"),), (), load=str(faults))
    stored = StoredCase(case, "title", "dead_code", "dead code", "Counts", evidence=WithoutDead())
    write_case(tmp_path / "case", stored, repro_text(stored), "")
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "case" / "repro.py")],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert ended.returncode == status, ended.stdout + ended.stderr


def test_the_planted_functions_are_passes() -> None:
    makers: tuple[Callable[[Any], Any], ...] = (counts_prim_funcs, wants_another)
    for make in makers:
        assert make(modules()[0])["main"].attrs["seen"] >= 1
