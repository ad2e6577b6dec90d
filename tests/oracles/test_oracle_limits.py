"""What the oracles must not be taken in by: tidying, documented orders, conventions, and errors of libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

from generators.case import PassCall
from generators.passes.loaded import rows_from_contracts
from generators.passes.row import Phase
from generators.passes.table import PASSES, SETUP, default_call
from generators.passes.traits import Consumes
from oracles.checks import attributes, dead_code, idempotence, purity, round_trip, sequential, survives, well_formed
from oracles.evidence import NotReadBack
from oracles.ir.compare import equal, same_bindings, with_functions
from oracles.trace import Step, Trace
from oracles.verdict import Failed, Inconclusive, Passed, Skipped
from tests.oracles.modules import CLEAN, DATAFLOW, HEAD, PRIM_FUNC, SYMBOLIC
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, row_of, step_of

UNUSED = (
    HEAD
    + """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            dead = R.add(x, R.const([1.0, 2.0]))
            R.output()
        with R.dataflow():
            y = R.multiply(x, R.const([3.0, 4.0]))
            R.output(y)
        return y
"""
)


def lowered(script: str, phase: Phase, bench: RealBench) -> Any:
    module = module_of(script)
    for call in SETUP[phase]:
        module = bench.apply(call, module)
    return module


# --- comparing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLEAN)
def test_blocks_are_no_difference_and_bindings_are(name: str) -> None:
    module = module_of(CLEAN[name])
    assert same_bindings(module, relax.transform.ToNonDataflow()(module))
    assert not same_bindings(module, relax.transform.LegalizeOps()(module))


def give_out_one_more(module: Any) -> Any:
    """Lets the first hidden variable of main's dataflow block be seen outside of it."""
    function = module["main"]
    hidden = next((b.var for b in function.body.blocks[0].bindings if isinstance(b.var, relax.DataflowVar)), None)
    if hidden is None:
        return module
    seen = relax.Var(hidden.name, hidden.ty)
    changed = tvm_ffi.structural_map(function, (relax.DataflowVar, lambda v: seen if v.same_as(hidden) else v))
    return tvm.IRModule({relax.GlobalVar("main"): changed}, module.attrs, module.global_infos)


def test_what_a_block_gives_out_is_not_a_matter_of_idempotence() -> None:
    bench = RealBench()
    step = step_of(module_pass(give_out_one_more), module_of(DATAFLOW), bench)
    assert not equal(step.after, bench.apply(step.call, step.after))
    assert isinstance(idempotence.judge(step, bench), Passed)


NESTED = (
    HEAD
    + """
    @R.function(private=True)
    def inner(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        return R.add(y, y)

    @R.function(private=True)
    def outer(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        z = cls.inner(x, y)
        return z

    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        z = cls.outer(x, y)
        return z
"""
)


def test_a_clean_up_that_goes_on_in_steps_and_settles_is_inconclusive() -> None:
    bench = RealBench()
    tidy = PassCall("RemoveUnusedParameters", "relax.transform.RemoveUnusedParameters()")
    step = step_of(tidy, module_of(NESTED), bench, row_of("p", idempotent=True))
    assert isinstance(idempotence.judge(step, bench), Inconclusive)


# --- dead code --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLEAN)
def test_a_dead_copy_is_well_formed_and_shares_no_call_or_constant(name: str) -> None:
    module = module_of(CLEAN[name])
    for function in dead_code.candidates(module):
        copy = dead_code.dead_copy(function)
        assert not well_formed.complaint(with_functions(module, {dead_code.DEAD: copy}))
        assert equal(copy, function.without_attr("global_symbol"))


@pytest.mark.parametrize(
    ("source", "phase"),
    [
        ("relax.transform.InlinePrivateFunctions()", Phase.HIGH),
        ("relax.transform.RemoveUnusedParameters()", Phase.HIGH),
        ("relax.transform.FuseOpsByPattern([('c.m', dpl.is_op('relax.multiply')(dpl.wildcard(), dpl.is_const()))])", 0),
        ("relax.transform.StaticPlanBlockMemory()", Phase.LOWERED),
    ],
)
def test_tidying_and_sharing_are_not_dead_code_bugs(source: str, phase: Phase) -> None:
    bench = RealBench(target="llvm")
    step = step_of(PassCall("Pass", source), lowered(UNUSED, Phase(phase), bench), bench)
    assert isinstance(dead_code.judge(step, bench), Passed)


def test_a_diagnostic_about_a_dead_function_is_a_rejection() -> None:
    def one_function_only(module: Any) -> Any:
        if len(module.functions) > 1:
            raise ValueError("this pass takes modules of one function")
        return module

    bench = RealBench()
    assert isinstance(
        dead_code.judge(step_of(module_pass(one_function_only), module_of(DATAFLOW), bench), bench), Skipped
    )


# --- crashes ----------------------------------------------------------------------------------------------


def adds_loop_above_root(module: Any) -> Any:
    """A mistake that s_tir's schedule primitive explains with a ValueError, and its pass's user cannot mend."""
    schedule = tvm.s_tir.Schedule(tvm.IRModule({"f": module["inc"]}))
    schedule.add_unit_loop(schedule.get_sblock("root", "f"))
    return module


def fuses_nothing(module: Any) -> Any:
    schedule = tvm.s_tir.Schedule(tvm.IRModule({"f": module["inc"]}))
    schedule.reverse_compute_inline(schedule.get_sblock("b", "f"))
    return module


def in_tier(step: Step, tier: str) -> Step:
    return replace(step, tier=tier)


@pytest.mark.parametrize("body", [adds_loop_above_root, fuses_nothing])
def test_a_failing_check_of_a_library_is_a_crash_in_the_documented_phase(body: Callable[[Any], Any]) -> None:
    bench = RealBench()
    step = step_of(module_pass(body), module_of(PRIM_FUNC), bench)
    assert step.error is not None
    assert step.error.explicit
    assert isinstance(survives.judge(in_tier(step, "B"), bench), Failed)
    assert isinstance(survives.judge(in_tier(step, "C"), bench), Skipped)


@pytest.mark.parametrize(("tier", "verdict"), [("A", Failed), ("B", Skipped)])
def test_an_assertion_that_states_a_limit_counts_in_official_pipelines_only(tier: str, verdict: type) -> None:
    def asserts(module: Any) -> Any:
        assert not module.functions, "this rule only supports square kernels"
        return module

    bench = RealBench()
    step = step_of(module_pass(asserts), module_of(DATAFLOW), bench)
    assert isinstance(survives.judge(in_tier(step, tier), bench), verdict)


def test_an_error_on_ill_formed_input_is_not_held_against_a_pass() -> None:
    def fails(module: Any) -> Any:
        raise tvm.error.InternalError("Check failed: (x) is false: ")

    bench = RealBench()
    module = module_of(SYMBOLIC)
    kept = {name: f for name, f in module.functions.items() if name.name_hint != "sub"}
    assert isinstance(survives.judge(step_of(module_pass(fails), module, bench), bench), Failed)
    assert isinstance(survives.judge(step_of(module_pass(fails), tvm.IRModule(kept), bench), bench), Skipped)


# --- documented orders, conventions, contracts ------------------------------------------------------------


@pytest.mark.parametrize("oracle", [purity, well_formed])
def test_call_tir_rewrite_before_remove_purity_checking_is_known(oracle: Any) -> None:
    bench = RealBench(target="llvm")
    legal = lowered(DATAFLOW, Phase.LEGAL, bench)
    step = step_of(default_call("CallTIRRewrite"), legal, bench, PASSES["CallTIRRewrite"])
    assert purity.violations(step.after)
    assert isinstance(oracle.judge(step, bench), Skipped)
    other = step_of(step.call, legal, bench, row_of("Another"))
    assert isinstance(oracle.judge(other, bench), Failed)


@pytest.mark.parametrize(("calling", "verdict"), [("same", Failed), ("lazy_get_input", Passed)])
def test_num_input_goes_with_the_calling_convention(calling: str, verdict: type) -> None:
    def count_one_more(module: Any) -> Any:
        changed = module["main"].with_attr("num_input", 2)
        return tvm.IRModule({relax.GlobalVar("main"): changed}, module.attrs, module.global_infos)

    bench = RealBench()
    module = module_of(DATAFLOW)
    before = tvm.IRModule(
        {relax.GlobalVar("main"): module["main"].with_attr("num_input", 1)}, module.attrs, module.global_infos
    )
    step = step_of(module_pass(count_one_more), before, bench, row_of("Planted", calling=calling))
    assert isinstance(attributes.judge(step, bench), verdict)


LOSSES: dict[str, Callable[[Any], Any]] = {
    "module attributes": lambda m: tvm.IRModule(m.functions, global_infos=m.global_infos),
    "global infos": lambda m: tvm.IRModule(m.functions, attrs=m.attrs),
    "public function": lambda m: tvm.IRModule({}, attrs=m.attrs, global_infos=m.global_infos),
    "function attribute": lambda m: tvm.IRModule(
        {relax.GlobalVar("main"): m["main"].without_attr("global_symbol")}, m.attrs, m.global_infos
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_no_contract_lets_a_loaded_pass_lose_what_is_not_its_business(name: str) -> None:
    bench = RealBench()
    row = rows_from_contracts(["Planted"], {})["Planted"]
    verdict = attributes.judge(step_of(module_pass(LOSSES[name]), module_of(DATAFLOW), bench, row), bench)
    assert isinstance(verdict, Failed)
    kept = attributes.judge(
        step_of(
            module_pass(lambda m: tvm.IRModule(m.functions, m.attrs, m.global_infos)), module_of(DATAFLOW), bench, row
        ),
        bench,
    )
    assert isinstance(kept, Passed)


@pytest.mark.parametrize(("consumes", "verdict"), [(("planted.hint",), Passed), ((), Failed)])
def test_a_pass_may_take_away_the_attribute_that_it_reads(consumes: tuple[str, ...], verdict: type) -> None:
    bench, module = RealBench(), module_of(DATAFLOW)
    hinted = tvm.IRModule({relax.GlobalVar("main"): module["main"].with_attr("planted.hint", 1)})

    def take_away(m: Any) -> Any:
        return tvm.IRModule({relax.GlobalVar("main"): m["main"].without_attr("planted.hint")})

    step = step_of(module_pass(take_away), hinted, bench, row_of("Planted", traits=(Consumes(consumes),)))
    assert isinstance(attributes.judge(step, bench), verdict)


# --- whole cases and texts --------------------------------------------------------------------------------


def test_results_that_break_scoping_are_not_compared() -> None:
    def forget(module: Any) -> Any:
        kept = {name: f for name, f in module.functions.items() if name.name_hint != "sub"}
        return tvm.IRModule(kept)

    bench = RealBench()
    first = step_of(module_pass(forget, "Forget"), module_of(SYMBOLIC), bench)
    second = step_of(module_pass(lambda module: module, "Same"), first.after, bench, index=1)
    assert isinstance(sequential.judge(Trace(first.before, (), (first, second)), bench), Skipped)


def test_json_that_does_not_load_is_the_writers_fault() -> None:
    def with_empty_constant(module: Any) -> Any:
        builder = relax.BlockBuilder()
        x = relax.Var("x", relax.TensorType((2,), "float32"))
        with builder.function("main", [x]):
            builder.emit_func_output(relax.Tuple([x, relax.const(np.zeros((6, 0), "float32"))]))
        return builder.get()

    bench = RealBench()
    step = step_of(module_pass(with_empty_constant), module_of(DATAFLOW), bench)
    verdict = round_trip.judge(step, bench)
    assert isinstance(verdict, Failed)
    assert (verdict.culprit, verdict.evidence) == (round_trip.WRITER, NotReadBack("JSON", ""))
