"""Findings and a report that the tests of this room share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from corpus.causes.signature import signature_of
from corpus.finding import Finding, ReductionStats
from generators.case import Case, ModuleText, PassCall, Tier
from oracles.evidence import Evidence
from oracles.verdict import Failed, Skipped
from reports.finding_row import FindingRow, row_of
from reports.summary import Report, RunFacts
from reports.tally import Tally, tally_of

NASTY = 'a <b> & "c" | d `e` *f* \x00\x1b[31m ]]> é'
"""What compilers print and formats choke on."""
NO_GAP = Skipped("about another pass", applies=False)


def finding(
    culprit: str = "FuseOps",
    message: str = "Var x is not defined",
    tier: Tier = "A",
    at_s: float = 1.5,
    symptom: str = "ill-formed",
    evidence: Evidence | None = None,
) -> Finding:
    failed = Failed(symptom, message, culprit=culprit, evidence=evidence)
    return Finding(
        case=Case(ModuleText("class Module:\n    pass\n"), (PassCall(culprit, f"relax.transform.{culprit}()"),)),
        verdict=failed,
        oracle="well_formed",
        signature=signature_of("well_formed", failed),
        tier=tier,
        at_s=at_s,
        tvm="0.27.0",
        reduced=ReductionStats(9, 2, 0, 0, 5, 1, 41, 0.25),
    )


def known_finding(culprit: str, **given: Any) -> FindingRow:
    """The row of a finding whose cause is in the registry."""
    return replace(row_of(finding(culprit, **given)), known=True, standing="known")


def row(found: Finding | FindingRow) -> FindingRow:
    return found if isinstance(found, FindingRow) else row_of(found)


def facts(seed: int = 7, wall_s: float = 60.0, shard: str = "1/1", own_fault: str | None = None) -> RunFacts:
    return RunFacts("0.27.0", "0.1.0", seed, ("llvm", "cuda"), wall_s, shard, False, own_fault)


def tally() -> Tally:
    return tally_of(
        {
            "cases": 98,
            "generated": 100,
            "invalid": 1,
            "numeric_verdicts": 60,
            "cpu_s": 12.5,
            "skipped": {"too large": 2, "no reference": 5, NO_GAP.key: 40},
            "not_applicable": {NO_GAP.reason: 40},
            "inconclusive": {"near-tie": 3},
            "ops": {"relax.add": 40},
            "phases": {"generate": 2.5, "passes": 10.0},
            "passes": {
                "FuseOps": {"applied": 20, "changed": 15, "rejected": 0, "failed": 1},
                "LiftTransformParams": {"applied": 8, "changed": 0, "rejected": 2, "failed": 0},
            },
            "oracles": {
                "well_formed": {"passed": 90, "failed": 1, "skipped": 0, "inconclusive": 0},
                "numbers": {"passed": 0, "failed": 0, "skipped": 7, "inconclusive": 3},
            },
        }
    )


def report(*findings: Finding | FindingRow, own_fault: str | None = None) -> Report:
    return Report(facts(own_fault=own_fault), tally(), tuple(map(row, findings)))
