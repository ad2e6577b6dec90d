"""Results of passes that change the calling convention are called as they want to be: interpreted and built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

from generators import externs, tvm_api
from generators.case import EntryCall, PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES
from generators.source import SeededSource
from oracles.builds.build import Built, build
from oracles.calls.after_pass import after_pass
from oracles.checks.numeric import judge
from oracles.reference.calling import AppliedPass, LeftOut, direct
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.reference.values import Runtime
from oracles.trace import Position
from oracles.verdict import PASSED, Failed, Verdict
from oracles.walk import walk
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import RealBench, constructed, module_of, step_between
from tests.quick import one_in


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    """Not while collecting: a script that forgets to register its functions must not find them in a forked process."""
    externs.register()


def array(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


X, Y, Z = (array(4, 4, seed=n) for n in range(3))


def module(body: str, *, attributes: str = 'R.func_attr({"num_input": 1})', more: str = "") -> Any:
    """A module whose main takes an input x of (n, 4) and the weights y and z."""
    return module_of(
        "@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4, 4), "float32"), '
        'z: R.Tensor((4, 4), "float32")):\n'
        + "".join(f"        {line}\n" for line in [attributes, "n = T.int64()", *body.strip().splitlines()])
        + more
    )


PLAIN = "w = R.add(R.permute_dims(y), z)\nreturn R.matmul(x, w)"
OTHER = """
    @R.function
    def other(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32"), c: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 2})
        return R.subtract(R.add(a, b), c)
"""
BODIES: dict[str, str] = {
    "one output": PLAIN,
    "several outputs": "w = R.add(y, z)\nr = R.matmul(x, w)\nreturn (r, w, r, y)",
    "no output": "r = R.matmul(x, y)\nreturn ()",
    "nested outputs": "r = R.matmul(x, y)\ns = R.matmul(r, z)\nreturn (r, (s, r))",
    "a shape": "return (R.shape([n, 4]), R.subtract(y, z))",
    "a tuple in a variable": "t = (R.matmul(x, y), z)\nreturn t",
    "a constant": 'return (R.const([1.0, 2.0], "float32"), R.matmul(x, R.subtract(y, z)))',
    "a weight not used": "return R.matmul(x, z)",
}
SEQUENCES: dict[str, tuple[tuple[str, str], ...]] = {
    name: tuple((n, f"relax.transform.{n}()") for n in names)
    for name, names in {
        "bundled": ("BundleModelParams",),
        "lifted": ("LiftTransformParams",),
        "inputs": ("LazyGetInput",),
        "outputs": ("LazySetOutput",),
        "inputs and outputs": ("LazyGetInput", "LazySetOutput"),
        "outputs, then inputs": ("LazySetOutput", "LazyGetInput"),
        "lifted, inputs asked for": ("LiftTransformParams", "LazyGetInput"),
        "lifted, bundled": ("BundleModelParams", "LiftTransformParams"),
    }.items()
}
BOUND = f"{{'y': np.array({Y.tolist()}, 'float32')}}"
SEQUENCES["bound"] = (("BindParams", f"relax.transform.BindParams('main', {BOUND})"),)
SEQUENCES["extent bound"] = (("BindSymbolicVars", "relax.transform.BindSymbolicVars({'n': 4}, 'main')"),)
SEQUENCES["lifted together"] = (("LiftTransformParams", "relax.transform.LiftTransformParams(['main'])"),)


def applied(start: Any, names: tuple[tuple[str, str], ...], calls: tuple[EntryCall, ...]) -> tuple[Position, Numbers]:
    """Where the passes lead to, with the way to call that module, and the numbers of the start."""
    steps = list(walk(Position.at(start), [PassCall(*pair) for pair in names], PASSES, RealBench()))
    assert len(steps) == len(names)
    assert steps[-1].end is not None
    return steps[-1].end, Numbers(start, calls)


def interpreted(result: Position, numbers: Numbers) -> None | Wrong | Unsure:
    return numbers.judge_module(result.module, result.calling)


def built(result: Position, numbers: Numbers, phase: Phase = Phase.HIGH) -> None | Wrong | Unsure:
    made = build(result.module, phase, Workbench(SeededSource(0), numbers), 0)
    assert isinstance(made, Built), made
    return numbers.judge_run(made.run, result.calling)


WAYS: dict[str, Callable[[Position, Numbers], None | Wrong | Unsure]] = {"interpreted": interpreted, "built": built}
MAIN = (EntryCall("main", (X, Y, Z)),)


BUILT_QUICKLY = ("one output", "nested outputs")
"""The bodies that `make test` builds after every sequence; all are interpreted."""


def quick_or_deep(body: str, way: str) -> object:
    deep = way == "built" and body not in BUILT_QUICKLY
    return pytest.param(body, way, marks=pytest.mark.deep if deep else ())


@pytest.mark.parametrize(("body", "way"), [quick_or_deep(body, way) for body in BODIES for way in WAYS])
@pytest.mark.parametrize("passes", one_in(2, SEQUENCES))
def test_result_is_called_as_it_wants_to_be(passes: str, body: str, way: str) -> None:
    start = module(BODIES[body])
    result, numbers = applied(start, SEQUENCES[passes], MAIN)
    assert not isinstance(numbers.expected, NoMeaning)
    assert WAYS[way](result, numbers) is None


LAZY = tuple(
    (name, f"relax.transform.{name}()")
    for name in ("LegalizeOps", "LiftTransformParams", "ToNonDataflow", "RemovePurityChecking", "LazyTransformParams")
)
IN_BLOCK = """
with R.dataflow():
    t = R.permute_dims(y)
    w = R.add(t, z)
    r = R.matmul(R.matmul(x, w), z)
    R.output(r)
return r
"""


@pytest.mark.parametrize("way", ["interpreted", "built"])
def test_transform_asks_for_weights_by_index_and_hands_over_its_outputs(way: str) -> None:
    start = module(IN_BLOCK)
    result, numbers = applied(start, LAZY, MAIN)
    transform = result.module["main_transform_params"]
    assert len(transform.params) == 0 and "set_item" in transform.script()
    outcome = interpreted(result, numbers) if way == "interpreted" else built(result, numbers, Phase.IMPURE)
    assert outcome is None


def test_outputs_handed_over_before_they_are_written_are_left_out() -> None:
    start = module(PLAIN)
    lowered = relax.transform.CallTIRRewrite()(relax.transform.LegalizeOps()(start))
    call = PassCall("LazySetOutput", "relax.transform.LazySetOutput()")
    step = step_between(call, PASSES[call.name], lowered, constructed(call)(lowered), Phase.LOWERED)
    assert step.end is not None
    assert interpreted(step.end, Numbers(start, MAIN)) == Unsure("calling convention lazy_set_output")


def test_lazy_pass_with_parameters_of_its_own_is_left_out() -> None:
    renamed = (*LAZY[:-1], ("LazyTransformParams", "relax.transform.LazyTransformParams('fetch', 'store')"))
    result, numbers = applied(module(IN_BLOCK), renamed, MAIN)
    assert interpreted(result, numbers) == Unsure("calling convention lazy_transform_params")


# --- planted bugs -------------------------------------------------------------------------------------------


def verdict_on(name: str, start: Any, wrong: Any, calls: tuple[EntryCall, ...] = MAIN) -> Verdict:
    """What the oracle says of a pass that should be `name` and gives `wrong`."""
    meaning = Numbers(start, calls)
    row = PASSES[name]
    step = step_between(PassCall(name, f"relax.transform.{name}()"), row, start, wrong)
    return judge(step, Workbench(SeededSource(0), meaning))


def asking_otherwise(result: Any, callback: str, places: dict[int, int], names: dict[str, str] | None = None) -> Any:
    """The module with other indices, and names, in the calls of this callback."""

    def changed(call: Any) -> Any:
        if not isinstance(call.op, relax.Var) or call.op.name != callback:
            return call
        index, last = call.args
        if names and isinstance(last, tvm.ir.StringImm):
            last = tvm.ir.StringImm(names[last.value])
        return relax.Call(call.op, [tvm.tirx.IntImm("int64", places[int(index)]), last], call.attrs, call.ty_args)

    functions = {g: tvm_ffi.structural_map(f, [(tvm_api.Call, changed)]) for g, f in result.functions.items()}
    return relax.transform.Normalize()(tvm.IRModule(functions))


INPUTS: dict[str, tuple[dict[int, int], dict[str, str] | None]] = {
    "another index": ({0: 1, 1: 0}, None),
    "another name": ({0: 0, 1: 1}, {"y": "z", "z": "y"}),
    "another weight": ({0: 1, 1: 0}, {"y": "z", "z": "y"}),
    "no such index": ({0: 0, 1: 2}, None),
}


@pytest.mark.parametrize(("places", "names"), INPUTS.values(), ids=INPUTS)
def test_wrong_inputs_are_found(places: dict[int, int], names: dict[str, str] | None) -> None:
    start = module(PLAIN)
    right = relax.transform.LazyGetInput()(start)
    same = asking_otherwise(right, "fget_param", {0: 0, 1: 1})
    assert verdict_on("LazyGetInput", start, right) == verdict_on("LazyGetInput", start, same) == PASSED
    verdict = verdict_on("LazyGetInput", start, asking_otherwise(right, "fget_param", places, names))
    assert isinstance(verdict, Failed)
    assert (verdict.symptom == "wrong result") == (places[0] == 1 and names is not None)


OUTPUTS = "a = R.add(y, z)\nb = R.subtract(y, z)\nreturn (a, b)"
WRONG_OUTPUTS: dict[str, dict[int, int]] = {
    "swapped": {0: 1, 1: 0},
    "one too many": {0: 0, 1: 2},
    "one twice": {0: 0, 1: 0},
}


@pytest.mark.parametrize("places", WRONG_OUTPUTS.values(), ids=WRONG_OUTPUTS)
def test_wrong_outputs_are_found(places: dict[int, int]) -> None:
    start = module(OUTPUTS)
    right = relax.transform.LazySetOutput()(start)
    assert verdict_on("LazySetOutput", start, right) == PASSED
    assert isinstance(verdict_on("LazySetOutput", start, asking_otherwise(right, "fset_output", places)), Failed)


SYMMETRIC = "w = R.add(R.permute_dims(y), z)\nr = R.matmul(x, w)\nreturn r"


@pytest.mark.parametrize("name", ["LiftTransformParams", "BundleModelParams", "LazyGetInput", "LazySetOutput"])
def test_wrong_result_is_found_through_another_convention(name: str) -> None:
    start = module(SYMMETRIC)
    make = getattr(relax.transform, name)
    assert verdict_on(name, start, make()(start)) == PASSED
    wrong = make()(module(SYMMETRIC.replace("R.add(", "R.subtract(")))
    verdict = verdict_on(name, start, wrong)
    assert isinstance(verdict, Failed) and verdict.symptom == "wrong result"


# --- several functions, several calls -----------------------------------------------------------------------


A, B, C = (array(2, seed=n) for n in (5, 6, 7))
BOTH = (*MAIN, EntryCall("other", (A, B, C)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("passes", one_in(2, SEQUENCES))
def test_every_function_is_called_in_its_own_way(passes: str, way: str) -> None:
    result, numbers = applied(module(PLAIN, more=OTHER), SEQUENCES[passes], BOTH)
    assert WAYS[way](result, numbers) is None
    assert not numbers.left_out


def test_wrong_result_of_another_function_is_found() -> None:
    start = module(PLAIN, more=OTHER)
    wrong = relax.transform.LazyGetInput()(module(PLAIN, more=OTHER.replace("subtract", "multiply")))
    verdict = verdict_on("LazyGetInput", start, wrong, BOTH)
    assert isinstance(verdict, Failed) and verdict.detail.startswith("entry call 1")


LARGER = EntryCall("main", (array(6, 4, seed=8), Y, Z))
OTHER_WEIGHTS = EntryCall("main", (X, array(4, 4, seed=9), Z))
LEFT_OUT = {
    "bound": (OTHER_WEIGHTS, "entry call: has another value than the one bound"),
    "extent bound": (LARGER, "entry call: has another extent than the one bound"),
}


@pytest.mark.parametrize("passes", LEFT_OUT)
def test_call_with_other_inputs_than_those_bound_is_left_out(passes: str) -> None:
    call, reason = LEFT_OUT[passes]
    result, numbers = applied(module(PLAIN), SEQUENCES[passes], (*MAIN, call))
    assert interpreted(result, numbers) is None
    assert numbers.left_out == {reason: 1}
    result, numbers = applied(module(PLAIN), SEQUENCES[passes], (call,))
    assert interpreted(result, numbers) == Unsure(reason)


@pytest.mark.parametrize(("passes", "call"), [("bound", LARGER), ("extent bound", OTHER_WEIGHTS)])
def test_call_that_differs_in_what_is_not_bound_is_compared(passes: str, call: EntryCall) -> None:
    result, numbers = applied(module(PLAIN), SEQUENCES[passes], (*MAIN, call))
    assert interpreted(result, numbers) is None and not numbers.left_out
    wrong, _ = applied(module(PLAIN.replace("R.add", "R.subtract")), SEQUENCES[passes], MAIN)
    outcome = numbers.judge_module(wrong.module, result.calling)
    assert isinstance(outcome, Wrong)


def test_call_without_a_result_at_the_start_is_left_out_unless_it_is_the_first() -> None:
    narrow = EntryCall("main", (array(4, 3), Y, Z))
    numbers = Numbers(module(PLAIN), (*MAIN, narrow))
    assert numbers.calls == MAIN and numbers.left_out == {"entry call: reference trap: type": 1}
    coarser = numbers.held_to("float16")
    coarser.left_out["only there"] += 1
    assert numbers.left_out == {"entry call: reference trap: type": 1, "only there": 1}
    assert isinstance(Numbers(module(PLAIN), (narrow, *MAIN)).expected, NoMeaning)


def test_source_that_is_no_call_of_literals_leaves_the_call_out() -> None:
    start = module(PLAIN)
    applied_pass = AppliedPass("my_pass", start, start)
    calling = after_pass(direct, "bind_params", applied_pass)

    def run(function: str, arguments: list[Runtime], packed: Any = None) -> Runtime:
        return 0

    with pytest.raises(LeftOut, match="calling convention bind_params"):
        calling(run, "main", [])


def test_function_that_a_pass_dropped_is_found() -> None:
    start = module(PLAIN, more=OTHER)
    verdict = verdict_on("LazyGetInput", start, relax.transform.LazyGetInput()(module(PLAIN)), BOTH)
    assert isinstance(verdict, Failed) and "no function other" in verdict.message
