"""The report as Markdown, for a CI job summary: findings first, then whether the campaign was any good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reports.finding_row import FindingRow
from reports.summary import Report
from reports.tally import ORACLE_COLUMNS
from reports.words import largest_first, missed, neediest_first, not_judged_line, share

NAME = "markdown"
FILE = "report.md"


def render(report: Report) -> str:
    """The whole report, ending in a line break."""
    parts = (_headline(report), _findings(report), _validity(report), _passes(report), _oracles(report), _skips(report))
    return "\n\n".join(part for part in parts if part) + "\n"


def cell(text: object) -> str:
    """Text that cannot break out of a table cell or become markup."""
    plain = " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;").replace("`", "\\`").replace("*", "\\*").replace("_", "\\_")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; cells are escaped."""
    lines = [header, ["---"] * len(header), *([cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _headline(report: Report) -> str:
    facts, tally = report.facts, report.tally
    new, known = len(report.new), len(report.known)
    lines = [
        f"# passfuzz: {new} new, {known} known",
        f"TVM {facts.tvm}, {', '.join(facts.targets)}, seed {facts.seed}, shard {facts.shard}: "
        f"{tally.cases} cases in {facts.wall_s:.0f} s ({tally.cpu_s:.0f} CPU-s), passfuzz {facts.passfuzz}.",
    ]
    if facts.own_fault:
        lines.append(f"**These results cannot be trusted: {cell(facts.own_fault)}**")
    not_judged = not_judged_line(tally)
    if not_judged:
        lines.append(f"Not judged: {cell(not_judged)}.")
    if facts.interrupted:
        lines.append("The campaign was interrupted before its end.")
    return "\n\n".join(lines)


def _findings(report: Report) -> str:
    if not report.findings:
        return "No finding."
    ordered = (*report.new, *report.known)
    header = ("culprit", "symptom", "oracle", "tier", "seen", "known", "size", "message")
    rows = (
        (row.where, row.symptom, row.oracle, row.tier, row.count, "yes" if row.known else "no", _size(row), row.message)
        for row in ordered
    )
    commands = "\n".join(f"python OUT/{row.repro}" for row in ordered if row.repro)
    return (
        f"## Findings\n\n{table(header, rows)}\n\nTo reproduce (OUT is the results folder):\n\n```sh\n{commands}\n```"
    )


def _size(row: FindingRow) -> str:
    reduced = row.reduced
    if not reduced:
        return "not reduced"
    return (
        f"{reduced.get('bindings', 0):g} bindings, {reduced.get('statements', 0):g} statements, "
        f"{reduced.get('passes', 0):g} passes"
    )


def _validity(report: Report) -> str:
    tally = report.tally
    rows = (
        ("generated", tally.generated, ""),
        ("invalid before any pass (our fault)", tally.invalid, share(tally.invalid, tally.generated)),
        ("judged", tally.cases, share(tally.cases, tally.generated)),
        *([("from seeds", tally.seeded, share(tally.seeded, tally.cases))] if tally.seeded else []),
        ("results compared by value", tally.numeric_verdicts, ""),
    )
    stages = ", ".join(f"{name} {share(spent, tally.cpu_s)}" for name, spent in sorted(tally.phases.items()))
    text = f"## Validity\n\n{table(('cases', 'number', 'share'), rows)}"
    return f"{text}\n\nCPU time: {stages}." if stages else text


def _passes(report: Report) -> str:
    passes = neediest_first(report.tally)
    if not passes:
        return ""
    rows = (
        (name, row["applied"], row["changed"], share(row["changed"], row["applied"]), row["rejected"], row["failed"])
        for name, row in passes
    )
    silent = sum(row["changed"] == 0 for _, row in passes)
    note = f"{silent} of {len(passes)} passes changed no module." if silent else "Every pass changed a module."
    fire_rates = table(("pass", "applied", "changed", "fire rate", "rejected", "failed"), rows)
    return f"## Passes\n\n{note}\n\n{_folded(fire_rates, 'Fire rate per pass, least first')}"


def _oracles(report: Report) -> str:
    rows = [(name, *(row[column] for column in ORACLE_COLUMNS)) for name, row in report.tally.oracles.items()]
    return f"## Oracles\n\n{table(('oracle', *ORACLE_COLUMNS), rows)}" if rows else ""


def _skips(report: Report) -> str:
    tally = report.tally
    parts = [
        f"### {title}\n\n{_reasons(counts)}"
        for title, counts in (("Skipped", missed(tally)), ("Inconclusive", tally.inconclusive))
        if counts
    ]
    if tally.not_applicable:
        parts.append(_folded(_reasons(tally.not_applicable), "Nothing to judge: the oracle is about something else"))
    return "\n\n".join(["## Not judged", *parts]) if parts else ""


def _reasons(counts: Mapping[str, int]) -> str:
    return table(("reason", "number"), largest_first(counts))


def _folded(text: str, title: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
