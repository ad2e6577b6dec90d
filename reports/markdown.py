"""The report as Markdown, for a CI job summary: findings first, then whether the campaign was any good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from corpus.escapes import IN_MARKUP, Markdown
from reports.finding_row import FindingRow
from reports.summary import Report
from reports.tally import ORACLE_COLUMNS
from reports.words import ended_line, largest_first, missed, neediest_first, not_judged_line, share

NAME = "markdown"
FILE = "report.md"
ESCAPE = IN_MARKUP


def render(report: Report) -> str:
    """The whole report, ending in a line break."""
    parts = (_headline(report), _findings(report), _validity(report), _passes(report), _oracles(report), _skips(report))
    return Markdown.of("{}\n", Markdown.joined("\n\n", (part for part in parts if part)))


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Markdown:
    """A Markdown table; cells are escaped."""
    rule = Markdown("---")
    return Markdown.joined("\n", (_line(line) for line in (header, [rule] * len(header), *rows)))


def _line(cells: Sequence[object]) -> Markdown:
    return Markdown.of("| {} |", Markdown.joined(" | ", (Markdown.of("{}", one) for one in cells)))


def _headline(report: Report) -> Markdown:
    facts, tally = report.facts, report.tally
    of = Markdown.of
    lines = [
        of("# passfuzz: {} new, {} known", len(report.new), len(report.known)),
        of(
            "TVM {}, {}, seed {}, shard {}: {} cases in {} s ({} CPU-s), passfuzz {}.",
            *(facts.tvm, ", ".join(facts.targets), facts.seed, facts.shard, tally.cases, format(facts.wall_s, ".0f")),
            *(format(tally.cpu_s, ".0f"), facts.passfuzz),
        ),
    ]
    if facts.own_fault:
        lines.append(of("**These results cannot be trusted: {}**", facts.own_fault))
    lines += [of("**{}**", line) for line in (ended_line(facts), *report.notes) if line]
    not_judged = not_judged_line(tally)
    if not_judged:
        lines.append(of("Not judged: {}.", not_judged))
    return Markdown.joined("\n\n", lines)


def _findings(report: Report) -> Markdown:
    if not report.findings:
        return Markdown("No finding.")
    ordered = (*report.new, *report.known)
    header = ("culprit", "symptom", "oracle", "tier", "seen", "known", "size", "message")
    rows = (
        (row.where, row.symptom, row.oracle, row.tier, row.count, "yes" if row.known else "no", _size(row), row.message)
        for row in ordered
    )
    commands = "\n".join(" ".join(("python", PurePath("OUT", row.script).as_posix())) for row in ordered if row.script)
    text = Markdown.of("## Findings\n\n{}", table(header, rows))
    if not commands:
        return text
    return Markdown.of("{}\n\nTo reproduce (OUT is the results folder):\n\n{}", text, Markdown.fenced(commands, "sh"))


def _size(row: FindingRow) -> Markdown:
    if not row.reduced:
        return Markdown("not reduced")
    sizes = (format(row.reduced.get(what, 0), "g") for what in ("bindings", "statements", "passes"))
    return Markdown.of("{} bindings, {} statements, {} passes", *sizes)


def _validity(report: Report) -> Markdown:
    tally = report.tally
    rows = (
        ("generated", tally.generated, ""),
        ("invalid before any pass (our fault)", tally.invalid, share(tally.invalid, tally.generated)),
        ("judged", tally.cases, share(tally.cases, tally.generated)),
        *([("from seeds", tally.seeded, share(tally.seeded, tally.cases))] if tally.seeded else []),
        ("results compared by value", tally.numeric_verdicts, ""),
    )
    of = Markdown.of
    text = of("## Validity\n\n{}", table(("cases", "number", "share"), rows))
    stages = [of("{} {}", name, share(spent, tally.cpu_s)) for name, spent in sorted(tally.phases.items())]
    return of("{}\n\nCPU time: {}.", text, Markdown.joined(", ", stages)) if stages else text


def _passes(report: Report) -> Markdown:
    passes = neediest_first(report.tally)
    if not passes:
        return Markdown("")
    rows = (
        (name, row["applied"], row["changed"], share(row["changed"], row["applied"]), row["rejected"], row["failed"])
        for name, row in passes
    )
    silent = sum(row["changed"] == 0 for _, row in passes)
    note = Markdown("Every pass changed a module.")
    if silent:
        note = Markdown.of("{} of {} passes changed no module.", silent, len(passes))
    fire_rates = table(("pass", "applied", "changed", "fire rate", "rejected", "failed"), rows)
    return Markdown.of("## Passes\n\n{}\n\n{}", note, _folded(fire_rates, "Fire rate per pass, least first"))


def _oracles(report: Report) -> Markdown:
    rows = [(name, *(row[column] for column in ORACLE_COLUMNS)) for name, row in report.tally.oracles.items()]
    return Markdown.of("## Oracles\n\n{}", table(("oracle", *ORACLE_COLUMNS), rows)) if rows else Markdown("")


def _skips(report: Report) -> Markdown:
    tally = report.tally
    parts = [
        Markdown.of("### {}\n\n{}", title, _reasons(counts))
        for title, counts in (("Skipped", missed(tally)), ("Inconclusive", tally.inconclusive))
        if counts
    ]
    if tally.not_applicable:
        parts.append(_folded(_reasons(tally.not_applicable), "Nothing to judge: the oracle is about something else"))
    return Markdown.joined("\n\n", [Markdown("## Not judged"), *parts]) if parts else Markdown("")


def _reasons(counts: Mapping[str, int]) -> Markdown:
    return table(("reason", "number"), largest_first(counts))


def _folded(text: Markdown, title: str) -> Markdown:
    return Markdown.of("<details><summary>{}</summary>\n\n{}\n\n</details>", title, text)
