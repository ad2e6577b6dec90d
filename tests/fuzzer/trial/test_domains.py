"""Inputs of foreign modules keep to what TVM documents of an operator's operands, in every process the same."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from corpus.scripts.module_text import live_module
from fuzzer.trial.subject.domains import domains_of, in_domains
from fuzzer.trial.subject.inputs import ATTEMPTS, drawn_calls
from fuzzer.trial.subject.unpromised_inputs import NoInputs, calm, meaning_of
from generators.case import EntryCall, ModuleText
from generators.operators.domain import DISTRIBUTION, UNIT, Domain
from generators.operators.table import OPERATORS
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from tests.oracles.oracle_bench import module_of
from tests.patience import HANGS_S

WITH_DOMAINS = [(name, number, domain) for name, row in OPERATORS.items() for number, domain in row.domains]
SAMPLING = """
@I.ir_module
class Module:
    @R.function(private=True)
    def sample(
        weights: R.Tensor((4, 5), "float32"), u: R.Tensor((6, 1), "float32"), rows: R.Tensor((6, 1), "int64")
    ) -> R.Tensor((6, 1), "int64"):
        found = R.multinomial_from_uniform(weights, u, rows, dtype="int64")
        return found

    @R.function
    def main(
        given: R.Tuple(R.Tensor((4, 5), "float16"), R.Tensor((6, 1), "float32")),
        rows: R.Tensor((6, 1), "int64"),
        free: R.Tensor((4, 5), "float32"),
    ):
        cls = Module
        half = given[0]
        weights = R.astype(half, "float32")
        u = given[1]
        found = cls.sample(weights, u, rows)
        return (found, free)
"""


def sampling() -> Any:
    return live_module(ModuleText(SAMPLING))


@pytest.mark.parametrize(("name", "number", "domain"), WITH_DOMAINS, ids=[f"{n} {k}" for n, k, _ in WITH_DOMAINS])
@pytest.mark.parametrize("shape", [(5,), (3, 5), (1, 5)])
def test_what_a_domain_draws_is_inside(name: str, number: int, domain: Domain, shape: tuple[int, ...]) -> None:
    drawn = domain.draw(np.random.default_rng(3), shape)
    assert drawn.shape == shape
    assert domain.holds is None or domain.holds(drawn)


@pytest.mark.parametrize(
    ("values", "inside"), [([0.25, 0.75], True), ([3.0, -2.0], False), ([0.5, 0.25], False), ([0.0, 1.0], True)]
)
def test_probabilities_lie_between_0_and_1_and_sum_to_1(values: list[float], inside: bool) -> None:
    assert DISTRIBUTION.holds is not None
    assert DISTRIBUTION.holds(np.array([values])) is inside


def test_fields_casts_and_calls_are_followed_and_other_parameters_are_free() -> None:
    assert domains_of(sampling(), "main") == {(0, 0): DISTRIBUTION, (0, 1): UNIT}


@pytest.mark.parametrize("attempt", range(len(ATTEMPTS)))
def test_every_set_of_inputs_has_a_meaning(attempt: int) -> None:
    module = sampling()
    calls = drawn_calls(module, attempt)
    for chosen in (calls, calm(module, calls, 0), calm(module, calls, 1)):
        assert not isinstance(Numbers(module, chosen).expected, NoMeaning)


def test_the_reference_stops_outside_of_a_domain() -> None:
    module = sampling()
    (call,) = drawn_calls(module, 0)
    weights, u = call.arguments[0]  # type: ignore[misc]
    wrong = EntryCall(call.function, ((weights * 3, u), *call.arguments[1:]))
    expected = Numbers(module, (wrong,)).expected
    assert isinstance(expected, NoMeaning)
    assert expected.kind == "domain"
    again = in_domains(module, wrong, 0)
    assert not isinstance(Numbers(module, (again,)).expected, NoMeaning)


ASKS = """
import sys
from corpus.scripts.module_text import live_module
from fuzzer.trial.subject.unpromised_inputs import meaning_of, seed_of
from generators.case import ModuleText
hold = [object() for _ in range(int(sys.argv[1]))]
module = live_module(ModuleText(sys.stdin.read()))
found = meaning_of(module, seed_of(module))
print([[getattr(a, "tolist", lambda: repr(a))() for a in call.arguments] for call in found.calls])
"""


def test_inputs_are_the_same_in_every_process() -> None:
    said = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", ASKS, str(1000 * int(hash_seed))]
        environment = {"PYTHONHASHSEED": hash_seed, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        ended = subprocess.run(
            command, input=SAMPLING, env=environment, text=True, capture_output=True, timeout=HANGS_S, check=True
        )
        said.append(ended.stdout)
    assert said[0] == said[1]
    assert len(said[0]) > 100


def test_another_module_has_other_inputs() -> None:
    from fuzzer.trial.subject.unpromised_inputs import seed_of

    one, other = sampling(), live_module(ModuleText(SAMPLING.replace("(free)", "(R.add(free, free))")))
    found = [meaning_of(module, seed_of(module)) for module in (one, other)]
    assert seed_of(one) == seed_of(sampling())
    assert not any(isinstance(numbers, NoInputs) for numbers in found)


CAST = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(dtype="float32"),
        y: R.Tensor(dtype="float32", ndim=2),
        z: R.Tensor((3, "n"), "float32"),
        s: R.Shape(ndim=2),
    ) -> R.Any:
        n, m = T.int64(), T.int64()
        a = R.match_cast(x, R.Tensor((3, n), "float32"))
        b = R.match_cast(y, R.Tensor((m, 7), "float32"))
        c = R.match_cast(s, R.Shape([n, 5]))
        d = R.match_cast(b, R.Tensor((m, 7), "float32"))
        return (R.add(a, z), d, c)
"""


def test_inputs_of_unknown_extents_have_those_that_the_function_casts_them_to() -> None:
    module = module_of(CAST)
    for attempt in range(5):
        (call,) = drawn_calls(module, attempt)
        x, y, z, shape = call.arguments
        assert x.shape == z.shape == (3, shape.extents[0])
        assert y.shape[1] == 7 and shape.extents[1] == 5
        assert not isinstance(Numbers(module, (call,)).expected, NoMeaning)
