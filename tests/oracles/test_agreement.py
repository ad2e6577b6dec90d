"""Who agrees with whom, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

from corpus.scripts.module_text import live_module
from generators.case import EntryCall, ModuleText
from generators.source import SeededSource
from oracles.builds.agreement import Engine, Group, conclusion, engines, groups
from oracles.reference.numbers import Numbers
from oracles.reference.values import carried
from oracles.trace import Position
from oracles.workbench import Workbench
from tests.oracles.modules import add_in_place
from tests.oracles.oracle_bench import constructed
from tests.oracles.test_blame import SUM, replaced

X = np.array([0.1, 0.2, 0.3], np.float32)
PRODUCT = (X + np.float32(1)) * X
RIGHT = (carried(PRODUCT, "float32"),)
NEAR = (carried(np.nextafter(PRODUCT, np.float32(9)), "float32"),)
WRONG = (carried(np.array([0.0, 2.0, 6.0], np.float32), "float32"),)
OTHER = (carried(np.array([0.0, 2.0, 7.0], np.float32), "float32"),)


def numbers() -> Numbers:
    return Numbers(live_module(ModuleText(SUM)), [EntryCall("main", (X,))])


REFERENCE_BEFORE, REFERENCE_AFTER = Engine(after=False), Engine(after=True)
BUILD_BEFORE, BUILD_AFTER = Engine(False, "llvm", 0), Engine(True, "llvm", 0)
DEVICE_BEFORE, DEVICE_AFTER = Engine(False, "cuda"), Engine(True, "cuda")


def test_witnesses_fall_into_groups_by_what_they_say() -> None:
    a, b, c, d, e, f = (Engine(after=False, builder=name) for name in "abcdef")
    answers = {a: RIGHT, b: WRONG, c: NEAR, d: "does not build: planted", e: OTHER, f: WRONG}
    found = groups(answers, numbers())
    assert [group.members for group in found] == [(a, c), (b, f), (d,), (e,)]
    assert found[0].says == ""
    assert "output 0[0] is 0.0, not 0.11" in found[1].says
    assert found[2].says == "does not build: planted"


@pytest.mark.parametrize(
    ("engines_by_answer", "word"),
    [
        (((REFERENCE_BEFORE, BUILD_BEFORE), (REFERENCE_AFTER, BUILD_AFTER)), "The pass is wrong"),
        (((REFERENCE_BEFORE, BUILD_BEFORE, BUILD_AFTER), (REFERENCE_AFTER,)), "Only the reference"),
        (((REFERENCE_BEFORE,), (REFERENCE_AFTER, BUILD_BEFORE, BUILD_AFTER)), "another meaning"),
        (((REFERENCE_BEFORE, REFERENCE_AFTER, BUILD_BEFORE), (BUILD_AFTER,)), "So far the reference agrees"),
        (((REFERENCE_BEFORE,), (BUILD_BEFORE,)), "So far the reference agrees"),
        (((REFERENCE_BEFORE, REFERENCE_AFTER, BUILD_BEFORE, BUILD_AFTER),), None),
        (((REFERENCE_BEFORE, REFERENCE_AFTER, BUILD_BEFORE, DEVICE_AFTER), (DEVICE_BEFORE,)), None),
        (((REFERENCE_BEFORE, REFERENCE_AFTER, BUILD_BEFORE), (DEVICE_AFTER,)), "So far the reference agrees"),
        (((REFERENCE_BEFORE, REFERENCE_AFTER), (DEVICE_AFTER,)), None),
        (((REFERENCE_BEFORE,), (REFERENCE_AFTER,), (BUILD_BEFORE,), (BUILD_AFTER,)), None),
    ],
)
def test_groups_say_whose_fault_it_is(engines_by_answer: tuple[tuple[Engine, ...], ...], word: str | None) -> None:
    said = conclusion([Group(members, "") for members in engines_by_answer])
    assert (word in said) if word else said == ""


def test_the_builds_of_a_wrong_pass_agree_with_the_reference_of_its_result() -> None:
    known = numbers()
    bench = Workbench(SeededSource(0), known)
    swapped = Position.at(replaced_add(known))
    found = groups(engines(Position.at(known.starting.module), swapped, known, bench), known)
    assert [tuple(map(str, group.members)) for group in found] == [
        ("reference before", "build before at -O0", "build before at -O3"),
        ("reference after", "build after at -O0", "build after at -O3"),
    ]
    assert conclusion(found) == "The pass is wrong: the reference and the builds say so."


def replaced_add(known: Numbers) -> object:
    """The program with the addition taken for a subtraction."""
    return constructed(replaced("relax.add", relax.op.subtract))(known.starting.module)


def test_what_a_call_writes_into_a_constant_the_next_one_reads() -> None:
    module = live_module(ModuleText(add_in_place('c = R.const(np.array([1.0, 2.0], "float32"))')))
    call = EntryCall("main", (np.ones(2, np.float32),))
    known = Numbers(module, [call, call])
    bench = Workbench(SeededSource(0), known)
    found = groups(engines(Position.at(module), Position.at(module), known, bench), known)
    assert [len(group.members) for group in found] == [1, 5]
