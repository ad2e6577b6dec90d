"""A report on a terminal: what is new, the worst first, on one screen."""

from __future__ import annotations

from corpus.escapes import one_line
from reports.causes import CauseRow, headline
from reports.severity import best, is_odd, severity, worst_first
from reports.summary import Report
from reports.terminal import Terminal
from reports.words import beside_line, cut, how_ended, not_shown, one_screen, progress_line, several, title

SHORTEST_TITLE = 24
"""Characters that are left of what happens on a narrow terminal."""


def show(report: Report, console: Terminal) -> None:
    """What is new, the worst first, and what is known, on one screen; then how the campaign went, and what is not in
    the report."""
    show_run(report, console)
    if line := beside_line(report.facts):
        console.say(line, "bold")


def show_run(report: Report, console: Terminal) -> None:
    """The same, but for what is not in the report: `run` says that with what to do about it."""
    facts, causes = report.facts, worst_first(report.causes)
    console.say(headline(report.findings), "bold")
    shown, left = one_screen(causes)
    for cause in shown:
        console.say(_line(cause, console.width))
    if left:
        console.say(not_shown(left))
    odd = [cause for cause in causes if not cause.known and is_odd(cause)]
    known = [cause for cause in causes if cause.known]
    for line in (several(odd, "new only in odd orders of passes (tier C)"), several(known, "known")):
        if line:
            console.say(line, "dim")
    console.say(f"{progress_line(report.tally, facts.wall_s)}, TVM {facts.tvm}, seed {facts.seed}")
    if facts.coverage is not None:
        console.say(facts.coverage.line)
    if line := how_ended(facts):
        console.say(line, "bold")
    if facts.own_fault:
        console.say(one_line(f"not to be trusted: {facts.own_fault}"), "bold red")


def _line(cause: CauseRow, width: int) -> str:
    """Severity, pass, what happens, and the script, which is never cut; the rest is, to the width."""
    row = best(cause)
    returned = "returned: " if cause.standing == "returned" else ""
    before = f"{severity(cause):<19}  {one_line(row.where)}: {returned}"
    room = max(SHORTEST_TITLE, width - len(before) - len(row.script) - 1)
    return f"{before}{cut(title(cause), room)} {row.script}".rstrip()
