"""Two faults of one pass have two causes, and one fault has one, in any program that shows it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

from corpus.causes.cause import LONGEST
from corpus.reduce import Candidate
from corpus.scripts.module_text import live_module
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.cause.facts import cause_in
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import judge
from fuzzer.trial.options import options_of
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.shrink import shrink
from generators.case import Case, EntryCall, ModuleText, PassCall
from generators.passes.loaded import rows_from_contracts, source_of
from generators.passes.table import PASSES
from generators.source import SeededSource
from oracles.verdict import Failed
from tests.fuzzer.planted_causes import NAME, RELAX, RELAX_PROGRAMS, TIR, TIR_PROGRAMS, Fault

CALL = PassCall(NAME, source_of(NAME))


def planted(fault: Fault, phase: str) -> Repertoire:
    def make() -> Any:
        return tvm.transform.module_pass(lambda module, context: fault(module), opt_level=0, name=NAME)

    rows = rows_from_contracts([NAME], {NAME: {"phase": phase}})
    return Repertoire({**PASSES, **rows}, {"PASSES": {NAME: make}}, (NAME,))


def candidate(script: str, arguments: int) -> Candidate:
    module = live_module(ModuleText(script))
    shape = (2, 2) if arguments == 2 else (6,)
    values = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape) / 4
    call = EntryCall("main", tuple(values + number for number in range(arguments)))
    return Candidate(module, (), (CALL,), (call,))


def failure(start: Candidate, plan: Plan, repertoire: Repertoire) -> Failure:
    options = options_of(plan, repertoire)
    judged = judge(Experiment(0, start.module, start.calls, (), start.passes, ("B",)), options, SeededSource(0, 0))
    assert judged.failures, dict(judged.counts.skipped)
    return judged.failures[0]


def cause(fault: Fault, script: str, phase: str, tmp_path: Path) -> str:
    start = candidate(script, 2 if phase == "relax" else 1)
    plan, repertoire = Plan(0, scratch=str(tmp_path), build_share=0.0), planted(fault, phase)
    found = failure(start, plan, repertoire)
    failed = Failed(found.symptom, found.message, found.detail, found.culprit, found.evidence)
    return str(
        cause_in(
            found.oracle, failed, found.culprit, candidate(script, len(start.calls[0].arguments)), plan, repertoire
        ).cause
    )


def causes(faults: dict[str, Fault], scripts: tuple[str, ...], phase: str, tmp_path: Path) -> dict[str, set[str]]:
    return {name: {cause(fault, script, phase, tmp_path) for script in scripts} for name, fault in faults.items()}


@pytest.mark.deep
@pytest.mark.parametrize(("faults", "scripts", "phase"), [(RELAX, RELAX_PROGRAMS, "relax"), (TIR, TIR_PROGRAMS, "tir")])
def test_no_two_faults_of_one_pass_have_one_cause(
    faults: dict[str, Fault], scripts: tuple[str, ...], phase: str, tmp_path: Path
) -> None:
    found = causes(faults, scripts, phase, tmp_path)
    shared = [(one, other, found[one] & found[other]) for one, other in combinations(faults, 2)]
    assert [entry for entry in shared if entry[2]] == []
    assert {name: sorted(each) for name, each in found.items() if len(each) > 1} == {}
    assert all(len(text) <= LONGEST and text.isprintable() for each in found.values() for text in each)


@pytest.mark.deep
@pytest.mark.parametrize(("faults", "scripts", "phase"), [(RELAX, RELAX_PROGRAMS, "relax"), (TIR, TIR_PROGRAMS, "tir")])
def test_neither_have_their_reduced_findings(
    faults: dict[str, Fault], scripts: tuple[str, ...], phase: str, tmp_path: Path
) -> None:
    plan = Plan(0, scratch=str(tmp_path), build_share=0.0)
    found: dict[str, set[str]] = {}
    for name, fault in faults.items():
        for script in scripts:
            repertoire = planted(fault, phase)
            first = failure(candidate(script, 2 if phase == "relax" else 1), plan, repertoire)
            start = candidate(script, 2 if phase == "relax" else 1)
            case = Case(ModuleText(script), (CALL,), calls=start.calls)
            finding = shrink(plan, repertoire, first, start, case, 60.0)
            assert finding is not None, name
            found.setdefault(name, set()).add(finding.cause)
    shared = [(one, other, found[one] & found[other]) for one, other in combinations(faults, 2)]
    assert [entry for entry in shared if entry[2]] == []
    assert {name: sorted(each) for name, each in found.items() if len(each) > 1} == {}
