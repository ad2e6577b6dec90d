"""The report as SARIF 2.1.0, for code scanning views: one rule per oracle, one result per finding."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from corpus.escapes import IN_JSON, visible
from reports.finding_row import FindingRow
from reports.summary import Report
from reports.words import ended_line

NAME = "sarif"
FILE = "report.sarif"
ESCAPE = IN_JSON

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
        "invocations": [_invocation(report)],
        "results": [_result(row, oracles.index(row.oracle)) for row in report.findings],
        "properties": {"tvm": report.facts.tvm, "seed": report.facts.seed, "cases": report.tally.cases},
    }
    return json.dumps(_plain({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}), indent=1) + "\n"


def _plain(value: Any) -> Any:
    """The document with every text as people may see it: no control characters, and none that a viewer takes for a
    link (SARIF 2.1.0, section 3.11.6: `[text](target)`)."""
    match value:
        case str():
            return visible(value).replace("](", "] (")
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case _:
            return value


def _invocation(report: Report) -> dict[str, Any]:
    """How the run went, with a notification for each doubt."""
    doubts = [line for line in (report.facts.own_fault, ended_line(report.facts), *report.notes) if line]
    notifications = [{"level": "warning", "message": {"text": line}} for line in doubts]
    said = {"toolExecutionNotifications": notifications} if notifications else {}
    successful = report.facts.own_fault is None and report.facts.ended is not None
    return {"executionSuccessful": successful, **said}


def _result(row: FindingRow, rule: int) -> dict[str, Any]:
    location = {"artifactLocation": {"uri": quote(row.script) or ".", "uriBaseId": BASE}, "region": {"startLine": 1}}
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
