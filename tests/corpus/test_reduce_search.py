"""The search of the reducer: what is tried without rebuilding, what it tells on the way, and how few calls it needs."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tvm import relax

from benchmarks.bench_reduce_models import FAULTS, reduced
from benchmarks.reduce_families import branches
from benchmarks.reduce_models import MODELS, encoder
from corpus.reduce import STEPS, Candidate, reduce
from corpus.reduce.callees import refers_to
from corpus.reduce.draft import NotApplicable, lift
from corpus.reduce.plan import plan_of, view_of
from corpus.reduce.realise import realise
from corpus.reduce.steps import dead_code, entries
from corpus.scripts.module_text import live_module
from fuzzer.trial.subject.inputs import drawn_calls
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText, PassCall
from oracles.reference.engine import Interpreter
from tests.quick import one_in

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"
PASSES = tuple(PassCall(name, f"{name}()") for name in "ABCDEF")

VAGUE = """
    @R.function
    def other(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        b = R.exp(x)
        return b

    @R.function(private=True)
    def dead(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        b = R.exp(x)
        return b

    @R.function
    def main(
        x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((5,), dtype="float32"), z: R.Tensor((2,), dtype="int32")
    ) -> R.Tensor(dtype="float32", ndim=2):
        a: R.Tensor(dtype="float32", ndim=2) = R.add(x, x)
        return a
"""


def operators(module: Any) -> list[str]:
    found = []
    for _, function in lift(module).drafts():
        found += [str(T.op_name(bind.value)) for block in function.body.blocks for bind in block.binds]
    return found


def is_vague(candidate: Candidate) -> bool:
    """Rebuilding gives the binding the type that TVM infers."""
    function = next((f for g, f in candidate.module.functions.items() if g.name_hint == "main"), None)
    if function is None or PASSES[4] not in candidate.passes:
        return False
    return any(T.type_of(b.var).shape is None for block in function.body.blocks for b in block.bindings)


def test_what_does_not_survive_rebuilding_loses_functions_passes_and_parameters() -> None:
    arguments = (np.ones((2, 3), "float32"), np.ones(5, "float32"), np.ones(2, "int32"))
    start = Candidate(live_module(ModuleText(HEAD + VAGUE)), (), PASSES, (EntryCall("main", arguments),))
    assert is_vague(start) and not is_vague(Candidate(realise(lift(start.module)).module, (), PASSES, ()))
    small = reduce(start, is_vague).candidate
    assert is_vague(small)
    assert [gvar.name_hint for gvar in small.module.functions] == ["main"]
    assert [str(param.name) for param in small.module["main"].params] == ["x"]
    assert small.passes == (PASSES[4],) and not small.calls

    kept = reduce(start, lambda c: is_vague(c) and bool(c.calls)).candidate
    assert [argument.shape for argument in kept.calls[0].arguments] == [(2, 3)], "arguments follow parameters"


def noise(length: int, seed: int) -> Candidate:
    """Operators on operators, with one relu of a matmul among them; most are used at the end."""
    source = random.Random(seed)
    builder = relax.BlockBuilder()
    x, w = (relax.Var(name, T.tensor_type((4, 4), "float32")) for name in "xw")
    simple = (relax.op.exp, relax.op.tanh, relax.op.cos, relax.op.negative)
    place = source.randrange(length // 4, length)
    with builder.function("main", [x, w]):
        with builder.dataflow():
            made = [x]
            for number in range(length):
                if number == place:
                    made.append(builder.emit(relax.op.nn.relu(builder.emit(relax.op.matmul(made[-1], w)))))
                elif source.random() < 0.5:
                    made.append(builder.emit(source.choice(simple)(made[-1])))
                else:
                    made.append(builder.emit(relax.op.add(made[-1], source.choice(made))))
            result = builder.emit_output(made[-1])
        builder.emit_func_output(result)
    return Candidate(builder.get(), (), (), ())


def relu_of_matmul(candidate: Candidate) -> bool:
    for _, function in lift(candidate.module).drafts():
        bound = {bind.var: bind.value for block in function.body.blocks for bind in block.binds}
        for value in bound.values():
            if T.op_name(value) == "relax.nn.relu" and T.op_name(bound.get(value.args[0])) == "relax.matmul":
                return True
    return False


@pytest.mark.parametrize("length", [50, 400])
@pytest.mark.parametrize("seed", one_in(3, range(3)))
def test_one_place_in_a_long_function_is_found_in_few_calls(length: int, seed: int) -> None:
    whole = noise(length, seed)
    assert relu_of_matmul(whole)
    reduction = reduce(whole, relu_of_matmul)
    assert reduction.bindings_after == 2 and reduction.finished
    assert len(reduction.candidate.module["main"].params) == 1
    assert reduction.oracle_calls <= (25 if length == 50 else 30)


def test_parameters_go_as_soon_as_nothing_uses_them() -> None:
    """Bindings that become parameters leave as few as what is left uses, in every candidate that is accepted."""
    sizes: list[tuple[int, int]] = []

    def seen(candidate: Candidate) -> None:
        (function,) = candidate.module.functions.values()
        sizes.append((len(operators(candidate.module)), len(function.params)))

    reduce(noise(200, 1), relu_of_matmul, on_success=seen)
    assert sizes and all(params <= 2 * bindings + 1 for bindings, params in sizes)


def test_every_success_is_told_and_the_last_is_the_result() -> None:
    told: list[Candidate] = []
    reduction = reduce(noise(40, 2), relu_of_matmul, on_success=told.append)
    assert told[-1] == reduction.candidate
    assert all(map(relu_of_matmul, told)) and len(told) > 3


class Stopped(Exception):
    pass


def test_what_the_callback_raises_ends_the_search() -> None:
    def stop(candidate: Candidate) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        reduce(noise(40, 2), relu_of_matmul, on_success=stop)


def test_steps_tell_what_they_have_cost() -> None:
    ticks = iter(range(100_000))
    reduction = reduce(noise(40, 2), relu_of_matmul, budget_s=1e6, clock=lambda: float(next(ticks)))
    assert {step.name for step in reduction.steps} == {step.name for step in STEPS}
    tried = sum(step.tried for step in reduction.steps)
    assert 0 <= reduction.oracle_calls - tried <= 1, "the module taken apart and rebuilt is no step's"
    assert any(step.accepted for step in reduction.steps)
    assert 0 < sum(step.seconds for step in reduction.steps) <= reduction.seconds
    assert dict(reduction.accepted) == {step.name: step.accepted for step in reduction.steps if step.accepted}


def test_a_deep_model_costs_few_calls_more_than_a_shallow_one() -> None:
    def softmax_of_division(candidate: Candidate) -> bool:
        chains = " ".join(operators(candidate.module))
        return "relax.divide relax.nn.softmax" in chains

    calls = []
    for depth in (1, 8):
        whole = Candidate(encoder(depth), (), (), ())
        assert softmax_of_division(whole)
        reduction = reduce(whole, softmax_of_division)
        assert reduction.bindings_after == 2
        calls.append(reduction.oracle_calls)
    assert calls[1] <= calls[0] + 12


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("model", MODELS)
def test_a_seeded_fault_in_a_model_is_isolated(model: str, fault: str) -> None:
    one = reduced(model, fault, 2)
    if one is None:
        assert fault == "ill-formed" and model.startswith("chain"), "only those are faults of Relax functions"
        return
    assert one.bindings_after <= 3 and one.statements_after <= 8 and one.passes_after == 1
    assert one.oracle_calls <= 150
    params = sum(len(function.params) for function in one.candidate.module.functions.values())
    assert params <= 8, "unused parameters are gone"


def test_what_the_last_of_a_chain_of_functions_does_is_found_in_few_calls() -> None:
    """The callers of the function that the failure needs go, however many there are; entry calls follow."""

    def sum_of_tanh(candidate: Candidate) -> bool:
        callees = [text for text in candidate.module.script().split("R.function") if "cls.part" not in text]
        return any("R.tanh" in text and "R.multiply" in text for text in callees)

    start = Candidate(branches(24), (), (), drawn_calls(branches(24), 0))
    assert sum_of_tanh(start) and start.calls
    reduction = reduce(start, sum_of_tanh)
    assert reduction.bindings_after <= 3 and len(reduction.candidate.module.functions) == 1
    assert reduction.oracle_calls < 60


def test_inputs_of_a_private_function_that_becomes_the_entry_are_drawn() -> None:
    def runs_part(candidate: Candidate) -> bool:
        (call,) = candidate.calls
        return call.function == "main" and Interpreter(candidate.module).run(call) is not None

    module = branches(3)
    view = view_of(plan_of(Candidate(module, (), (), drawn_calls(module, 0))), module)
    alone = [edit(view.plan) for edit in entries.private_functions(view)]
    assert [set(plan.draft.functions) for plan in alone] == [{"main"}, {"main", "part0"}]
    assert runs_part(alone[0].candidate(realise(alone[0].draft).module))
    without_calls = entries.private_functions(view)[0](replace(view.plan, calls=()))
    assert without_calls.calls == ()


def test_a_chain_of_functions_is_looked_at_once_for_each_step_and_not_for_each_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Functions that all are needed take as many attempts, each over all functions."""
    looked: list[object] = []

    def counted(function: Any) -> set[str]:
        looked.append(function)
        return refers_to(function)

    monkeypatch.setattr(dead_code, "refers_to", counted)
    module = branches(12)
    view = view_of(plan_of(Candidate(module, (), (), ())), module)
    edits = dead_code.functions(view)
    assert len(edits) == 12
    for edit in edits[1:]:
        with pytest.raises(NotApplicable):
            edit(view.plan)
    assert len(looked) == 12
