"""The report as SARIF 2.1.0, for code scanning views: one rule per oracle, one result per finding."""

from __future__ import annotations

import json
from typing import Any

from reports.finding_row import FindingRow
from reports.summary import Report

NAME = "sarif"
FILE = "report.sarif"

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "OUT"
"""The name of the results folder, which paths are relative to."""


def render(report: Report) -> str:
    """The whole document."""
    oracles = sorted({row.oracle for row in report.findings})
    rules = [{"id": name, "shortDescription": {"text": f"passfuzz oracle {name}"}} for name in oracles]
    driver = {"name": "passfuzz", "version": report.facts.passfuzz, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": report.facts.own_fault is None}],
        "results": [_result(row, oracles.index(row.oracle)) for row in report.findings],
        "properties": {"tvm": report.facts.tvm, "seed": report.facts.seed, "cases": report.tally.cases},
    }
    return json.dumps({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _result(row: FindingRow, rule: int) -> dict[str, Any]:
    location = {"artifactLocation": {"uri": row.repro or ".", "uriBaseId": BASE}, "region": {"startLine": 1}}
    return {
        "ruleId": row.oracle,
        "ruleIndex": rule,
        "level": _level(row),
        "message": {"text": f"{row.where}: {row.symptom}: {row.message}"},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"passfuzz/v1": row.signature},
        "occurrenceCount": row.count,
        "baselineState": "unchanged" if row.known else "new",
        "properties": {"culprit": row.culprit, "tier": row.tier, "target": row.target, "passes": list(row.passes)},
    }


def _level(row: FindingRow) -> str:
    if row.known:
        return "note"
    return "warning" if row.tier == "C" else "error"
