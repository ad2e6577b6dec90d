"""What a finding of wrong numbers says of whose fault they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from corpus.reduce import Candidate
from corpus.scripts.module_text import live_module
from fuzzer.protocol import Plan
from fuzzer.trial import whose_fault as room
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking import shrink
from fuzzer.trial.shrinking.shrink import _blamed_after, _first_wrong
from fuzzer.trial.whose_fault import whose_fault, wrong_lowering
from generators.case import EntryCall, ModuleText, PassCall
from oracles.builds import blame
from oracles.verdict import CODEGEN
from tests.oracles.oracle_bench import PASSES_UNDER_TEST, row_of
from tests.oracles.test_blame import SUM, replaced

GOOD = PassCall("Normalize", "relax.transform.Normalize()")
BAD = replaced("relax.add", relax.op.subtract)
BOTH = PassCall("Both", "both()")
ROWS = {call.name: row_of(call.name) for call in (GOOD, BAD, BOTH)}


def both() -> Any:
    return tvm.transform.Sequential([relax.transform.Normalize(), PASSES_UNDER_TEST[BAD.name]()], name="Both")


def case(*passes: PassCall) -> Candidate:
    calls = (EntryCall("main", (np.array([1.0, 2.0, 3.0], np.float32),)),)
    return Candidate(live_module(ModuleText(SUM)), (), passes, calls)


def fault(*passes: PassCall, names: dict[str, Any] | None = None) -> tuple[str, ...]:
    rows = ROWS | {call.name: row_of(call.name) for call in passes}
    return whose_fault(case(*passes), Plan(0), Repertoire(rows, names or {"both": both}))


def test_the_wrong_pass_inside_of_a_sequential_is_named() -> None:
    lines = fault(GOOD, BOTH)
    assert lines[0] == "The pass is wrong: the reference and the builds say so."
    assert lines[1] == f"The first wrong pass inside of it: {BAD.name}."
    assert lines[2].startswith("reference before, build before") and lines[3].startswith("reference after, build after")


def test_passes_on_modules_of_their_own_are_no_parts() -> None:
    compiling = PassCall("Compiles", "compiles()")

    @tvm.transform.module_pass(opt_level=0, name="Compiles")
    def compiles(module: Any, _context: Any) -> Any:
        relax.transform.DeadCodeElimination()(tvm.IRModule({}))
        return PASSES_UNDER_TEST[BAD.name]()(module)

    lines = fault(compiling, names={"compiles": lambda: compiles})
    assert lines[1] == f"The first wrong pass inside of it: {BAD.name}."


def test_no_pass_is_blamed_where_all_agree() -> None:
    assert [line.split(":")[-1].strip() for line in fault(GOOD)] == ["what the program means"]


@pytest.mark.parametrize(("lowering", "first"), [((GOOD, BOTH), BOTH.name), ((GOOD,), CODEGEN)])
def test_the_wrong_pass_of_building_a_case_is_named(
    lowering: tuple[PassCall, ...], first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "lowering_of", lambda module, phase, builder: tuple(call.name for call in lowering))
    monkeypatch.setattr(blame, "default_call", {call.name: call for call in lowering}.__getitem__)
    monkeypatch.setattr(blame, "PASSES", ROWS)
    assert wrong_lowering(case(GOOD), Plan(0), Repertoire(ROWS, {"both": both})) == first


@pytest.mark.parametrize(
    ("under_test", "first", "culprit"),
    [
        (None, None, CODEGEN),
        (None, CODEGEN, CODEGEN),
        (frozenset({"Mine"}), CODEGEN, CODEGEN),
        (None, "tirx.CommonSubexprElim", "tirx.CommonSubexprElim"),
        (None, "tirx.VectorizeLoop", "tirx.VectorizeLoop"),
        (frozenset({"Mine"}), None, CODEGEN),
        (frozenset({"Mine"}), "tirx.CommonSubexprElim", None),
        (frozenset({"Mine"}), "tirx.VectorizeLoop", CODEGEN),
        (frozenset({"tirx.CommonSubexprElim"}), "tirx.CommonSubexprElim", "tirx.CommonSubexprElim"),
    ],
)
def test_a_crash_is_not_blamed_on_a_pass_that_is_right_until_another_one(
    under_test: frozenset[str] | None, first: str | None, culprit: str | None
) -> None:
    assert _blamed_after(CODEGEN, first, under_test) == culprit


@pytest.mark.parametrize(("named", "first"), [(BOTH.name, BOTH.name), (CODEGEN, CODEGEN), (None, None)])
def test_the_lowering_is_followed_in_a_child(
    named: str | None, first: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrink, "wrong_lowering", lambda *given: named)
    assert _first_wrong(Plan(0, scratch=str(tmp_path)), Repertoire(ROWS, {}), case(GOOD)) == first


def test_a_child_that_dies_on_the_way_names_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrink, "wrong_lowering", lambda *given: os.abort())
    assert _first_wrong(Plan(0, scratch=str(tmp_path)), Repertoire(ROWS, {}), case(GOOD)) is None
