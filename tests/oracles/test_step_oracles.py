"""Oracles that compare what a pass did with what it was given or does again: planted faults and clean passes."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm import relax

from generators.case import PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call, with_trait
from generators.passes.traits import AppliesInside
from oracles.checks import (
    attributes,
    dead_binding,
    dead_code,
    determinism,
    idempotence,
    input_unchanged,
    legalised,
    round_trip,
)
from oracles.checks.purity import ends_lives_early
from oracles.ir.compare import digest, part_from, public_names, same_bindings
from oracles.ir.fingerprint import fingerprint
from oracles.verdict import ACROSS_PROCESSES, PASSED, Failed, Inconclusive, Passed, Skipped
from tests.oracles.modules import CLEAN, DATAFLOW, HEAD, PRIM_FUNC, SYMBOLIC
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, poke_type, row_of, step_of
from tests.patience import HANGS_S

COUNTER = itertools.count()
ORACLES = (input_unchanged, determinism, idempotence, attributes, dead_code, dead_binding, legalised, round_trip)


def poke_device(module: Any) -> Any:
    return poke_type(module, relax.TensorType((2, 4), "float32", module.global_infos["vdevice"][0]))


def replace_in_place(module: Any) -> Any:
    module["extra"] = relax.utils.copy_with_new_vars(module["main"]).with_attr("global_symbol", "extra")
    return module


def with_attribute(module: Any, key: str, value: Any) -> Any:
    functions = {name: f.with_attr(key, value) for name, f in module.functions.items()}
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def count_up(module: Any) -> Any:
    return with_attribute(module, "count", int(module["main"].attrs.get("count", 0)) + 1)


def drop_parameter(module: Any) -> Any:
    main = module["main"]
    shorter = relax.Function(main.params[:-1], main.body, main.ret_ty, main.is_pure, main.attrs)
    return tvm.IRModule({relax.GlobalVar("main"): shorter}, attrs=module.attrs, global_infos=module.global_infos)


def refuse_private(module: Any) -> Any:
    if len(public_names(module)) < len(module.functions):
        return with_attribute(module, "seen_private", 1)
    return module


def count_bindings(module: Any) -> Any:
    counted = sum(len(block.bindings) for block in module["main"].body.blocks)
    return with_attribute(module, "bindings", counted)


def by_address(module: Any) -> Any:
    return with_attribute(module, "address", module["main"].params[0].__chandle__())


PLANTED: tuple[tuple[str, Any, str, Callable[[Any], Any], str, str], ...] = (
    ("poked type", input_unchanged, DATAFLOW, poke_device, "input changed", "gave back another module"),
    ("changed in place", input_unchanged, DATAFLOW, replace_in_place, "input changed", "gave it back as its result"),
    (
        "counter",
        determinism,
        DATAFLOW,
        lambda m: with_attribute(m, "n", next(COUNTER)),
        "not deterministic",
        "a function",
    ),
    ("grows", idempotence, DATAFLOW, count_up, "not idempotent", "second application changes a function"),
    (
        "module attribute",
        attributes,
        DATAFLOW,
        lambda m: tvm.IRModule(m.functions, global_infos=m.global_infos),
        "lost attribute",
        "answer is gone",
    ),
    (
        "global info",
        attributes,
        DATAFLOW,
        lambda m: tvm.IRModule(m.functions, attrs=m.attrs),
        "lost attribute",
        "vdevice is gone",
    ),
    (
        "public function",
        attributes,
        DATAFLOW,
        lambda m: tvm.IRModule({}, attrs=m.attrs, global_infos=m.global_infos),
        "changed signature",
        "is gone",
    ),
    ("parameter", attributes, DATAFLOW, drop_parameter, "changed signature", "another number of parameters"),
    ("minds dead bindings", dead_binding, DATAFLOW, count_bindings, "dead binding", "changes a function in the live"),
    ("minds dead code", dead_code, DATAFLOW, refuse_private, "dead code", "a dead Relax function changes a function"),
)


@pytest.mark.parametrize(
    ("oracle", "script", "change", "symptom", "words"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED]
)
def test_a_planted_fault_is_found(oracle: Any, script: str, change: Any, symptom: str, words: str) -> None:
    bench = RealBench()
    verdict = oracle.judge(step_of(module_pass(change), module_of(script), bench), bench)
    assert isinstance(verdict, Failed), verdict
    assert verdict.symptom == symptom
    assert words in verdict.message


@pytest.mark.parametrize("oracle", ORACLES, ids=[oracle.__name__ for oracle in ORACLES])
@pytest.mark.parametrize("source", ["relax.transform.DeadCodeElimination()", "relax.transform.CanonicalizeBindings()"])
@pytest.mark.parametrize("name", ["dataflow", "local function", "prim_func"])
def test_clean_passes_are_left_alone(oracle: Any, source: str, name: str) -> None:
    bench = RealBench()
    verdict = oracle.judge(step_of(PassCall("Clean", source), module_of(CLEAN[name]), bench), bench)
    assert isinstance(verdict, (Passed, Skipped)), verdict


def test_what_a_row_gives_up_is_not_asked_for() -> None:
    bench = RealBench()
    ordinary, external = module_of(DATAFLOW), with_attribute(module_of(DATAFLOW), "Codegen", "tool")
    rows = (row_of("p", keeps_attributes=False), row_of("p", keeps_functions=False), row_of("p", calling="fewer"))
    changes = (lambda m: tvm.IRModule(m.functions), lambda m: tvm.IRModule({}, m.attrs, m.global_infos), drop_parameter)
    for row, change, module in zip(rows, changes, (ordinary, external, ordinary), strict=True):
        lax = row_of(
            "p", keeps_attributes=False, keeps_functions=row.promise.keeps_functions, calling=row.promise.calling
        )
        verdict = attributes.judge(step_of(module_pass(change), module, bench, lax), bench)
        assert isinstance(verdict, Passed), verdict


RECURSIVE = """
@I.ir_module
class Module:
    @R.function
    def recursion(n: R.Tensor((1,), "bool")) -> R.Tensor:
        if n:
            result = R.const(1.0)
        else:
            inner = Module.recursion(n)
            result = R.add(inner, inner)
        return result
"""


def test_what_an_inner_pass_does_not_promise_is_not_asked_of_the_outer_one() -> None:
    bench = RealBench()
    grown = [step_of(default_call("CanonicalizeBindings"), module_of(RECURSIVE), bench).after]
    grown.append(bench.apply(default_call("CanonicalizeBindings"), grown[0]))
    assert not same_bindings(*grown), "TVM mended CanonicalizeBindings: the row need not name it any more"
    outer = PASSES["KillAfterLastUse"]
    outer = replace(outer, place=replace(outer.place, gives=None))  # as if it could stand twice
    step = step_of(default_call(outer.name), module_of(RECURSIVE), bench, outer)
    assert isinstance(idempotence.judge(step, bench), Inconclusive)
    alone = replace(outer, traits=())
    assert isinstance(idempotence.judge(replace(step, row=alone), bench), Failed)


def test_an_outer_pass_answers_for_what_its_inner_one_leaves_alone() -> None:
    bench = RealBench()
    row = row_of("Planted", traits=(AppliesInside(("CanonicalizeBindings",)),))
    verdict = idempotence.judge(step_of(module_pass(count_up), module_of(DATAFLOW), bench, row), bench)
    assert isinstance(verdict, Failed)


def test_rows_apply_passes_that_do_not_promise_to_settle() -> None:
    applied = {row.name: applied.names for row, applied in with_trait(AppliesInside)}
    assert applied
    assert not {inner for names in applied.values() for inner in names if PASSES[inner].promise.idempotent}


def test_a_pass_that_leaves_its_phases_is_not_applied_again() -> None:
    bench = RealBench()
    given = {"phases": frozenset({Phase.HIGH}), "gives": Phase.LEGAL}
    step = step_of(module_pass(count_up), module_of(DATAFLOW), bench, row_of("p", **given))
    assert isinstance(idempotence.judge(step, bench), Skipped)
    stays = row_of("p", phases=frozenset({Phase.HIGH, Phase.LEGAL}), gives=Phase.LEGAL)
    assert isinstance(idempotence.judge(replace(step, row=stays), bench), Failed)


def test_idempotence_is_asked_only_where_promised() -> None:
    bench = RealBench()
    step = step_of(module_pass(count_up), module_of(DATAFLOW), bench, row_of("p", idempotent=False))
    assert isinstance(idempotence.judge(step, bench), Skipped)


@pytest.mark.parametrize(
    ("source", "lowers"),
    [("relax.transform.LegalizeOps()", True), ("relax.transform.LegalizeOps({}, ['relax.add'])", False)],
)
def test_legalize_ops_lowers_what_it_knows(source: str, lowers: bool) -> None:
    bench = RealBench(target="llvm")
    step = step_of(PassCall(legalised.LEGALIZE, source), module_of(PRIM_FUNC), bench)
    left = [call.op.name for call, _ in legalised.operator_calls(step.after)]
    verdict = legalised.judge(step, bench)
    assert ("relax.add" in left) is not lowers
    if lowers:
        assert isinstance(verdict, Passed)
    else:
        assert isinstance(verdict, Failed)
        assert verdict.message == "relax.add remains though all of its types are known"


def test_unknown_shapes_are_no_fault_of_legalize_ops() -> None:
    bench = RealBench(target="llvm")
    module = module_of(
        HEAD
        + """
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)):
        y = R.exp(x)
        return y
"""
    )
    step = step_of(PassCall(legalised.LEGALIZE, "relax.transform.LegalizeOps()"), module, bench)
    assert [call.op.name for call, _ in legalised.operator_calls(step.after)] == ["relax.exp"]
    assert isinstance(legalised.judge(step, bench), Passed)


UNSPEAKABLE = "not a name"


def of_scripts(marked: str, index: int) -> Any:
    """The verdict on a pass that marks one of two PrimFuncs, UNSPEAKABLE and "plain", at this place of a case."""

    def mark(module: Any) -> Any:
        functions = {g: f.with_attr("n", 1) if g.name_hint == marked else f for g, f in module.functions.items()}
        return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)

    bench, function = RealBench(), module_of(PRIM_FUNC)["inc"]
    module = tvm.IRModule({UNSPEAKABLE: function, "plain": function})
    return round_trip.judge(step_of(module_pass(mark), module, bench, index=index), bench)


def test_scripts_are_read_of_what_a_step_has_changed() -> None:
    assert of_scripts("", 0).culprit == round_trip.PRINTER, "the first step is judged on its input"
    assert of_scripts("", 1) == PASSED, "what is as it was has been read already"
    assert of_scripts("plain", 1) == PASSED, "so has a function that is as it was"
    assert of_scripts(UNSPEAKABLE, 1) == Skipped("input does not round-trip")


@pytest.mark.parametrize("name", CLEAN)
def test_fingerprints_see_types_devices_and_attributes(name: str) -> None:
    module = module_of(CLEAN[name])
    assert fingerprint(module) == fingerprint(module.clone())
    assert fingerprint(with_attribute(module, "n", 1)) != fingerprint(module)
    assert fingerprint(tvm.IRModule(module.functions, attrs={"n": 1})) != fingerprint(module)


def test_digests_do_not_depend_on_the_process() -> None:
    lines = (
        "from tests.oracles.oracle_bench import module_of",
        "from tests.oracles.modules import SYMBOLIC",
        "from oracles.ir.compare import digest",
        "print(digest(module_of(SYMBOLIC)))",
    )
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True, timeout=HANGS_S
    )
    assert ran.stdout.strip() == digest(module_of(SYMBOLIC))
    assert digest(module_of(DATAFLOW)) != digest(module_of(SYMBOLIC))


def test_the_live_part_does_not_depend_on_names_of_private_functions() -> None:
    module = module_of(SYMBOLIC)
    renamed = module_of(SYMBOLIC.replace("sub", "other"))
    assert not tvm_ffi.structural_equal(module, renamed)
    assert tvm_ffi.structural_equal(part_from(module, ["main"]), part_from(renamed, ["main"]))


def test_no_result_is_skipped_by_all() -> None:
    def refuse(module: Any) -> Any:
        raise ValueError("no")

    bench = RealBench()
    step = step_of(module_pass(refuse), module_of(DATAFLOW), bench, phase=Phase.HIGH)
    assert step.after is None
    verdicts = [oracle.judge(step, bench) for oracle in ORACLES]
    assert all(isinstance(verdict, (Passed, Skipped)) for verdict in verdicts)


def test_a_result_that_follows_addresses_is_found_in_a_copy() -> None:
    module = module_of(DATAFLOW)
    benches = [RealBench(seed) for seed in range(10)]
    verdicts = [determinism.judge(step_of(module_pass(by_address), module, bench), bench) for bench in benches]
    found = [verdict for verdict in verdicts if isinstance(verdict, Failed)]
    assert {verdict.symptom for verdict in found} == {ACROSS_PROCESSES}
    assert any(isinstance(verdict, Passed) for verdict in verdicts)


def test_a_pass_that_ends_lives_too_early_is_distinguished_from_one_whose_task_it_is() -> None:
    alive = module_of("""
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        a = R.add(x, x)
        b = R.add(a, a)
        return b
""")
    ended = module_of(alive.script(show_meta=True).replace("return b", "_ = R.memory.kill_tensor(a)\n        return b"))
    bench = RealBench()
    ending, keeping = module_pass(lambda _: ended, "Ending"), module_pass(lambda module: module.clone(), "Keeping")
    assert ends_lives_early(step_of(ending, alive, bench))
    assert not ends_lives_early(step_of(keeping, ended, bench))
    assert not ends_lives_early(step_of(ending, alive, bench, row_of("Ending", gives=Phase.KILLED)))
    assert not ends_lives_early(step_of(ending, alive, bench, phase=Phase.KILLED))
