"""A pass under test that rarely fires gets what made it fire, varied."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from msgspec import json

os.environ.setdefault("TVM_NUM_THREADS", "1")

import pytest

from benchmarks.fires import fired
from fuzzer.campaign.kinship import TRIALS
from fuzzer.protocol import Plan, TriedDraws, TryDraws
from fuzzer.trial.repertoire import Repertoire, repertoire_of
from fuzzer.worker import kin
from fuzzer.worker.draw import draw_experiment
from fuzzer.worker.kin import FEW, kin_of, wants_trials
from generators import tvm_api
from generators.passes.table import PASSES
from generators.targets import DEFAULT
from generators.unavailable import Unavailable
from tests.patience import HANGS_S

SELDOM = """
import zlib

import tvm
from tvm import relax

WANTED = 3006341449

def make():
    @tvm.transform.module_pass(opt_level=0)
    def marks(module, context):
        found = []
        def see(expr):
            if isinstance(expr, relax.Call) and zlib.crc32(str(getattr(expr.op, "name", "")).encode()) == WANTED:
                found.append(expr)
        for gvar, function in module.functions.items():
            if isinstance(function, relax.Function):
                relax.analysis.post_order_visit(function, see)
        return module.with_attr("marked", 1) if found else module
    return marks

PASSES = {"Seldom": make}
"""
CASES = 60
ASKED = TryDraws(TRIALS, HANGS_S)


@pytest.fixture(scope="module")
def seldom(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Repertoire]:
    """A campaign for a pass that looks for an operator, relax.cumsum, whose name its code does not show, and what was
    found for it."""
    path = tmp_path_factory.mktemp("load") / "seldom.py"
    path.write_text(SELDOM)
    plan = Plan(7, load=str(path))
    repertoire = repertoire_of(plan)
    return plan, replace(repertoire, kin=kin_of(plan, repertoire, ASKED).kin)


def share(plan: Plan, repertoire: Repertoire) -> float:
    cases = [case for case in fired(plan, repertoire, range(CASES)) if case.drawn]
    return sum(bool(case.changed["Seldom"]) for case in cases) / len(cases)


@pytest.mark.deep
def test_a_pass_that_seldom_fires_fires_more_often_with_its_kin(seldom: tuple[Plan, Repertoire]) -> None:
    plan, repertoire = seldom
    assert repertoire.kin[DEFAULT]
    without = share(plan, replace(repertoire, kin={}))
    assert without < 0.2 and share(plan, repertoire) > 0.1 + 1.5 * without


def test_the_cases_that_resemble_each_other_are_not_the_same(seldom: tuple[Plan, Repertoire]) -> None:
    plan, repertoire = seldom
    texts = []
    for index in range(20):
        try:
            texts.append(tvm_api.script_of(draw_experiment(plan, repertoire, index).experiment.module))
        except Unavailable:
            continue
    assert len(set(texts)) > 0.9 * len(texts) > 9


def test_every_worker_finds_the_same(seldom: tuple[Plan, Repertoire]) -> None:
    plan, repertoire = seldom
    found = kin_of(plan, repertoire_of(plan), ASKED)
    assert (found.kin, found.tried, found.of) == (repertoire.kin, TRIALS, TRIALS)
    assert json.decode(json.encode(found), type=TriedDraws) == found


def test_trials_end_with_their_number_and_with_their_time(seldom: tuple[Plan, Repertoire]) -> None:
    plan, repertoire = seldom
    assert kin_of(plan, repertoire, TryDraws(3, HANGS_S)).tried == 3
    found = kin_of(plan, repertoire, TryDraws(TRIALS, 1e-6))
    assert found.tried <= 1 and found.of == TRIALS


def test_more_is_tried_until_each_pass_has_fired(seldom: tuple[Plan, Repertoire]) -> None:
    plan, repertoire = seldom
    found = kin_of(plan, repertoire, TryDraws(1, HANGS_S, TRIALS))
    assert 1 <= found.tried == found.of < TRIALS
    never = replace(repertoire, under_test=(*(repertoire.under_test or ()), "Normalize"))
    assert kin_of(plan, never, TryDraws(2, HANGS_S, 3)).tried == 5


def test_trials_are_counted_beyond_a_byte(seldom: tuple[Plan, Repertoire], monkeypatch: pytest.MonkeyPatch) -> None:
    plan, repertoire = seldom
    monkeypatch.setattr(kin, "_trial", lambda *_: kin._AppliedDraw(DEFAULT, (), ()))
    applied, begun = kin._tried(plan, repertoire, TryDraws(300, HANGS_S))
    assert len(applied) == begun == 300


def test_nothing_is_tried_for_passes_with_shapes_nor_for_many() -> None:
    planted = next(name for name, row in PASSES.items() if row.fires.recipes)
    rest = tuple(name for name, row in PASSES.items() if not row.fires.recipes and not row.fires.prim_recipes)
    for names in ((), (planted,), rest[: FEW + 1]):
        plan = Plan(7, under_test=names)
        assert not wants_trials(plan, repertoire_of(plan)), names


HANGS = """
import os
import tvm

def make():
    @tvm.transform.module_pass(opt_level=0)
    def hangs(module, context):
        with open(os.environ["SEEN"], "a") as seen:
            seen.write("once\\n")
        while True:
            pass
    return hangs

PASSES = {"Hangs": make}
"""


@pytest.mark.deep
def test_a_pass_that_hangs_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    plan = Plan(7, load=str(tmp_path / "hangs.py"), deadline_s=5.0)
    found = kin_of(plan, repertoire_of(plan), ASKED)
    assert (found.kin, found.tried, found.of) == ({}, 1, TRIALS)
    assert (tmp_path / "seen").read_text().split() == ["once"]
