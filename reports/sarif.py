"""The report as SARIF 2.1.0, for code scanning views: one rule and one result per cause; known ones are suppressed."""

from __future__ import annotations

import json
from urllib.parse import quote

from corpus.escapes import IN_JSON, issue_url, visible
from generators.json_values import JsonObject
from reports.causes import CauseRow
from reports.finding_row import FindingRow
from reports.severity import best, is_odd, severity, worst_first
from reports.summary import Report
from reports.words import ended_line, title

NAME = "sarif"
FILE = "report.sarif"
ESCAPE = IN_JSON

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "OUT"
"""The name of the results folder, which paths are relative to."""


def render(report: Report) -> str:
    """The whole document."""
    causes = worst_first(report.causes)
    driver = {"name": "passfuzz", "version": report.facts.passfuzz, "rules": [_rule(cause) for cause in causes]}
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "results": [_result(cause, number) for number, cause in enumerate(causes)],
        "properties": {"tvm": report.facts.tvm, "seed": report.facts.seed, "cases": report.tally.cases},
    }
    return json.dumps(_plain({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}), indent=1) + "\n"


def _plain(value: object) -> object:
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


def _invocation(report: Report) -> JsonObject:
    """How the run went, with a notification for each doubt."""
    doubts = [line for line in (report.facts.own_fault, ended_line(report.facts), *report.notes) if line]
    notifications = [{"level": "warning", "message": {"text": line}} for line in doubts]
    said = {"toolExecutionNotifications": notifications} if notifications else {}
    successful = report.facts.own_fault is None and report.facts.ended is not None
    return {"executionSuccessful": successful, **said}


def _rule(cause: CauseRow) -> JsonObject:
    """A cause as a rule of SARIF: its id is the same from run to run."""
    text = f"{best(cause).where}: {title(cause)}"
    return {
        "id": cause.id,
        "shortDescription": {"text": text},
        "fullDescription": {"text": cause.cause or text},
        **({"helpUri": address} if (address := issue_url(cause.link)) else {}),
    }


def _result(cause: CauseRow, rule: int) -> JsonObject:
    """The cause with the scripts of its findings, the best first."""
    row = best(cause)
    others = [one for one in cause.findings if one is not row]
    return {
        "ruleId": cause.id,
        "ruleIndex": rule,
        "level": _level(cause),
        "message": {"text": f"{row.where}: {row.symptom}: {row.message}"},
        "locations": [_location(row)],
        **({"relatedLocations": [_location(one) for one in others]} if others else {}),
        "partialFingerprints": {"passfuzz/cause/v1": cause.id},
        "occurrenceCount": cause.count,
        "baselineState": "unchanged" if cause.known else "new",
        "suppressions": [_suppression(cause)] if cause.known else [],
        "properties": {
            "culprit": row.culprit,
            "severity": severity(cause),
            "standing": cause.standing,
            "tier": cause.tier,
            "oracle": row.oracle,
            "target": row.target,
            "passes": list(row.passes),
            "findings": [one.signature for one in cause.findings],
        },
    }


def _location(row: FindingRow) -> JsonObject:
    place = {"artifactLocation": {"uri": quote(row.script) or ".", "uriBaseId": BASE}, "region": {"startLine": 1}}
    return {"physicalLocation": place}


def _suppression(cause: CauseRow) -> JsonObject:
    """Why a known cause is no alert (SARIF 2.1.0, section 3.35)."""
    said = "a limit that TVM states" if cause.standing == "limitation" else "in the registry of known causes"
    return {"kind": "external", "status": "accepted", "justification": ": ".join(filter(None, (said, cause.link)))}


def _level(cause: CauseRow) -> str:
    if cause.known:
        return "note"
    return "warning" if is_odd(cause) else "error"
