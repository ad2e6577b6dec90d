"""The report as JUnit XML, which every CI shows: one test case per pass and per oracle.

A new finding is a failure of its culprit pass, or of its oracle when no pass is to blame. Known findings do not fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.etree import ElementTree

from corpus.escapes import IN_MARKUP, visible
from reports.finding_row import NO_CULPRIT, FindingRow
from reports.summary import Report
from reports.tally import OracleColumn, PassColumn
from reports.words import ended_line

Counted: TypeAlias = Mapping[PassColumn, int] | Mapping[OracleColumn, int]

NAME = "junit"
FILE = "junit.xml"
ESCAPE = IN_MARKUP
Tag: TypeAlias = Literal["testsuite", "properties", "property", "testcase", "failure", "skipped", "system-out"]


@dataclass(frozen=True, slots=True)
class TestCase:
    """One line of a CI's test view. failures: (one line, detail) each; skipped: why it did not run."""

    classname: str
    name: str
    failures: tuple[tuple[str, str], ...] = ()
    skipped: str | None = None
    output: str = ""
    seconds: float = 0.0


def render(report: Report) -> str:
    """The whole document."""
    suites = (("passes", _pass_cases(report)), ("oracles", _oracle_cases(report)))
    doubts = [line for line in (ended_line(report.facts), report.facts.own_fault, *report.notes) if line]
    return document(suites, report.facts.wall_s, [("warning", line) for line in doubts])


def document(
    suites: Iterable[tuple[str, list[TestCase]]], seconds: float = 0.0, properties: Iterable[tuple[str, str]] = ()
) -> str:
    """JUnit XML of named suites. properties: (name, value), of each suite."""
    root = ElementTree.Element("testsuites", name="passfuzz", time=f"{seconds:.3f}")
    said = list(properties)
    for name, cases in suites:
        suite = _add(
            root,
            "testsuite",
            name=name,
            tests=str(len(cases)),
            failures=str(sum(bool(case.failures) for case in cases)),
            errors="0",
            skipped=str(sum(case.skipped is not None for case in cases)),
        )
        if said:
            _add_properties(suite, said)
        for case in cases:
            _add_case(suite, case)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add(parent: ElementTree.Element, tag: Tag, text: str | None = None, **attributes: str) -> ElementTree.Element:
    """An element below another. The one place through which texts come into the document."""
    element = ElementTree.SubElement(parent, tag, {name: visible(value) for name, value in attributes.items()})
    if text is not None:
        element.text = visible(text)
    return element


def _add_properties(suite: ElementTree.Element, said: Iterable[tuple[str, str]]) -> None:
    properties = _add(suite, "properties")
    for name, value in said:
        _add(properties, "property", name=name, value=value)


def _add_case(suite: ElementTree.Element, case: TestCase) -> None:
    element = _add(suite, "testcase", classname=case.classname, name=case.name, time=f"{case.seconds:.3f}")
    for line, detail in case.failures:
        _add(element, "failure", detail, message=line)
    if case.skipped is not None:
        _add(element, "skipped", message=case.skipped)
    if case.output:
        _add(element, "system-out", case.output)


def _pass_cases(report: Report) -> list[TestCase]:
    counted = report.tally.passes
    names = sorted({*counted, *(row.culprit for row in report.findings if row.culprit != NO_CULPRIT)})
    cases = []
    for name in names:
        rows = [row for row in report.findings if row.culprit == name]
        counts = counted.get(name, {})
        idle = "never applied" if not counts.get("applied") and not rows else None
        cases.append(_case("passfuzz.passes", name, rows, counts, idle))
    return cases


def _oracle_cases(report: Report) -> list[TestCase]:
    counted = report.tally.oracles
    blameless = [row for row in report.findings if row.culprit == NO_CULPRIT]
    cases = []
    for name in sorted({*counted, *(row.oracle for row in blameless)}):
        counts = counted.get(name, {})
        rows = [row for row in blameless if row.oracle == name]
        idle = "judged nothing" if not (counts.get("passed") or counts.get("failed") or rows) else None
        cases.append(_case("passfuzz.oracles", name, rows, counts, idle))
    return cases


def _case(
    classname: str,
    name: str,
    rows: list[FindingRow],
    counts: Mapping[PassColumn, int] | Mapping[OracleColumn, int],
    idle: str | None,
) -> TestCase:
    failures = tuple((f"{row.symptom}: {row.message}", _detail(row)) for row in rows if not row.known)
    known = [f"known: {row.signature}" for row in rows if row.known]
    output = ", ".join([*(f"{column} {count}" for column, count in counts.items()), *known])
    return TestCase(classname, name, failures, idle, output)


def _detail(row: FindingRow) -> str:
    lines = (
        f"signature: {row.signature}",
        f"oracle: {row.oracle}",
        f"tier: {row.tier}",
        f"target: {row.target}",
        f"seen: {row.count}",
        f"passes: {'; '.join(row.passes)}",
        *([f"reproduce: python OUT/{row.script}"] if row.script else []),
    )
    return "\n".join(lines)
