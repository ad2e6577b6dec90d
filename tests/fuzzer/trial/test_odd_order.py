"""Which findings of tier C are findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.finding import Finding
from fuzzer.trial.shrinking.odd_order import NotCounted, counted
from oracles.evidence import Died, Evidence, Hung, ReferenceTrap
from oracles.reference.errors import symptom_of
from oracles.verdict import CRASH, DOES_NOT_BUILD, HANG, WRONG_RESULT, Failed
from tests.reports.reports_data import finding


def found(oracle: str, symptom: str, tier: str = "C", evidence: Evidence | None = None) -> Finding:
    return replace(finding(tier=tier), oracle=oracle, verdict=Failed(symptom, "x", evidence=evidence))


COUNTS = [
    found("survives", CRASH, evidence=Died("SIGSEGV")),
    found("survives", HANG, evidence=Hung()),
    found("numeric", WRONG_RESULT),
    found("numeric", symptom_of("storage-overlap"), evidence=ReferenceTrap("storage-overlap")),
    found("definedness", "undefined"),
    found("well_formed", "ill-formed"),
]
DOES_NOT = [
    found("survives", CRASH),
    found("build", DOES_NOT_BUILD),
    found("purity", "impure"),
    found("idempotence", "not idempotent"),
]


@pytest.mark.parametrize("one", COUNTS, ids=lambda one: one.verdict.symptom)
def test_what_is_wrong_in_any_order_counts(one: Finding) -> None:
    assert counted(one) is one


@pytest.mark.parametrize("one", DOES_NOT, ids=lambda one: one.oracle)
def test_what_a_pass_keeps_in_its_place_alone_does_not(one: Finding) -> None:
    assert isinstance(counted(one), NotCounted)
    for tier in ("A", "B"):
        official = replace(one, tier=tier)
        assert counted(official) is official
