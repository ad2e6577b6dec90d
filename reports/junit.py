"""The report as JUnit XML, which every CI shows: a test case for each cause, and for each pass and oracle that no new
cause is about.

A cause that is new, or has returned, is a failure where its tier is one that fails the run; other ones are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.etree import ElementTree

from corpus.escapes import IN_MARKUP, visible
from reports.causes import CauseRow
from reports.finding_row import NO_CULPRIT, FindingRow
from reports.severity import best, severity, worst_first
from reports.summary import Report
from reports.tally import OracleColumn, PassColumn
from reports.words import ended_line, title

ColumnCounts: TypeAlias = Mapping[PassColumn, int] | Mapping[OracleColumn, int]

NAME = "junit"
FILE = "junit.xml"
ESCAPE = IN_MARKUP
Tag: TypeAlias = Literal["testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out"]


@dataclass(frozen=True, slots=True)
class TestCase:
    """One line of a CI's test view. failures: (one line, detail) each; error: as one of them, where it could not be
    run; skipped: why it did not run."""

    classname: str
    name: str
    failures: tuple[tuple[str, str], ...] = ()
    skipped: str | None = None
    output: str = ""
    seconds: float = 0.0
    error: tuple[str, str] | None = None


def render(report: Report) -> str:
    """The whole document."""
    causes = worst_first(report.causes)
    wrong = {row.culprit for cause in causes if not cause.known for row in cause.findings}
    blaming = {row.oracle for cause in causes if not cause.known for row in cause.findings if row.culprit == NO_CULPRIT}
    suites = (
        ("causes", [_cause_case(cause, report.facts.fail_on) for cause in causes]),
        ("passes", [_pass_case(name, row) for name, row in sorted(report.tally.passes.items()) if name not in wrong]),
        (
            "oracles",
            [_oracle_case(name, row) for name, row in sorted(report.tally.oracles.items()) if name not in blaming],
        ),
    )
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
            errors=str(sum(case.error is not None for case in cases)),
            skipped=str(sum(case.skipped is not None for case in cases)),
            time=f"{sum(case.seconds for case in cases):.3f}",
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
    if case.error is not None:
        _add(element, "error", case.error[1], message=case.error[0])
    if case.skipped is not None:
        _add(element, "skipped", message=case.skipped)
    if case.output:
        _add(element, "system-out", case.output)


def _cause_case(cause: CauseRow, fail_on: tuple[str, ...]) -> TestCase:
    """A cause, by its pass. Its name is the same from run to run, while messages hold numbers."""
    row, what = best(cause), title(cause)
    classname = f"passfuzz.causes.{row.culprit}"
    name = f"{cause.id} {cause.cause or row.symptom}"
    if cause.known:
        limit = "a limit that TVM states" if cause.standing == "limitation" else "known"
        return TestCase(classname, name, skipped=": ".join(filter(None, (limit, cause.link))), output=_detail(cause))
    returned = "returned, " if cause.standing == "returned" else ""
    said = f"{returned}{severity(cause)}: {what}"
    if not cause.is_failure(fail_on):
        return TestCase(classname, name, skipped=f"tier {cause.tier} fails no run: {said}", output=_detail(cause))
    return TestCase(classname, name, ((said, _detail(cause)),))


def _pass_case(name: str, counts: Mapping[PassColumn, int]) -> TestCase:
    return TestCase("passfuzz.passes", name, (), None if counts["applied"] else "never applied", output=_counts(counts))


def _oracle_case(name: str, counts: Mapping[OracleColumn, int]) -> TestCase:
    idle = None if counts["passed"] or counts["failed"] else "judged nothing"
    return TestCase("passfuzz.oracles", name, (), idle, _counts(counts))


def _counts(counts: ColumnCounts) -> str:
    return ", ".join(f"{column} {count}" for column, count in counts.items())


def _detail(cause: CauseRow) -> str:
    """The cause, and its findings, the best first."""
    row = best(cause)
    shown = (row, *(one for one in cause.findings if one is not row))
    return "\n\n".join(
        (f"cause {cause.id}: {cause.cause}" if cause.cause else f"cause {cause.id}", *map(_finding, shown))
    )


def _finding(row: FindingRow) -> str:
    lines = (
        f"{row.symptom}: {row.message}",
        f"signature: {row.signature}",
        f"oracle: {row.oracle}",
        f"tier: {row.tier}",
        f"target: {row.target}",
        f"seen: {row.count}",
        f"passes: {'; '.join(row.passes)}",
        *([f"reproduce: python OUT/{row.script}"] if row.script else []),
    )
    return "\n".join(lines)
