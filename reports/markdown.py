"""The report as Markdown, for a CI job summary: one screen. The details are in the page and in summary.json."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.escapes import IN_MARKUP, Markdown
from corpus.number_of import number_of
from reports.causes import CauseRow, headline
from reports.severity import best, is_odd, severity, worst_first
from reports.summary import Report
from reports.words import (
    TIERS,
    cut,
    ended_line,
    not_shown,
    one_screen,
    several,
    share,
    title,
)

NAME = "markdown"
FILE = "report.md"
ESCAPE = IN_MARKUP

LONGEST_TITLE = 160
SHOWN_DOUBTS = 3
"""Lines on what a reader must know; summary.json and the page have all."""


def render(report: Report) -> str:
    """The whole report, ending in a line break."""
    causes = worst_first(report.causes)
    parts = (_headline(report), _news(causes), _folded(causes), _hints(causes))
    return Markdown.of("{}\n", Markdown.joined("\n\n", (part for part in parts if part)))


def _headline(report: Report) -> Markdown:
    facts, tally = report.facts, report.tally
    of = Markdown.of
    lines = [
        of("# passfuzz: {}", headline(report.findings)),
        of(
            "TVM {}, {}, seed {}, shard {}: {} in {} s ({} CPU-s), {} valid{}, passfuzz {}.",
            *(
                facts.tvm,
                ", ".join(facts.targets),
                facts.seed,
                facts.shard,
                number_of(tally.cases, "case"),
                format(facts.wall_s, ".0f"),
            ),
            *(format(tally.cpu_s, ".0f"), share(tally.generated - tally.invalid, tally.generated)),
            of(", {} from modules of --corpus", tally.seeded) if tally.seeded else Markdown(""),
            facts.passfuzz,
        ),
    ]
    if facts.coverage is not None:
        lines.append(of("It {}.", facts.coverage.line))
    warnings = [of("* **These results cannot be trusted: {}**", facts.own_fault)] if facts.own_fault else []
    doubts = [line for line in (ended_line(facts), *report.notes) if line]
    warnings += [of("* **{}**", line) for line in doubts[:SHOWN_DOUBTS]]
    if len(doubts) > SHOWN_DOUBTS:
        warnings.append(of("* **And {} more notes.**", len(doubts) - SHOWN_DOUBTS))
    return Markdown.joined("\n\n", [*lines, *([Markdown.joined("\n", warnings)] if warnings else [])])


def _news(causes: Sequence[CauseRow]) -> Markdown:
    """The causes that a person must look at, the worst first, one line each."""
    shown, left = one_screen(causes)
    if not causes:
        return Markdown("No finding.")
    lines = [_line(cause) for cause in shown]
    if left:
        lines.append(Markdown.of("- {}", not_shown(left)))
    return Markdown.joined("\n", lines) if lines else Markdown("Nothing new.")


def _line(cause: CauseRow) -> Markdown:
    shown, of = best(cause), Markdown.of
    return of(
        "- **{}**: {}: {}{}{}",
        severity(cause),
        shown.where,
        Markdown("returned: ") if cause.standing == "returned" else Markdown(""),
        cut(title(cause), LONGEST_TITLE),
        of(" {}", Markdown.code(shown.script)) if shown.script else Markdown(""),
    )


def _folded(causes: Sequence[CauseRow]) -> Markdown:
    """What is not looked at first, in a line each: odd orders of passes, and what is known."""
    odd = [cause for cause in causes if not cause.known and is_odd(cause)]
    known = [cause for cause in causes if cause.known]
    lines = (several(odd, "new only in odd orders of passes (tier C)"), several(known, "known"))
    return Markdown.joined("\n\n", (Markdown.of("{}.", line) for line in lines if line))


def _hints(causes: Sequence[CauseRow]) -> Markdown:
    if not causes:
        return Markdown("")
    run = Markdown("To reproduce: `python OUT/SCRIPT`, where OUT is the results folder.")
    return Markdown.of("{}\n\n{} Diffs, texts of issues and counters are in report.html.", TIERS, run)
