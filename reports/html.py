"""The report as one self-contained page: no script, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from reports.finding_row import FindingRow
from reports.summary import Report
from reports.tally import PASS_COLUMNS
from reports.words import largest_first, missed, neediest_first, not_judged_line, share

NAME = "html"
FILE = "report.html"

_STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
.known { opacity: .6 } .fault { color: #c00; font-weight: bold } code { font-size: 90% }
"""


def render(report: Report) -> str:
    """The whole page."""
    title = f"passfuzz: {len(report.new)} new, {len(report.known)} known"
    body = "\n".join((_facts(report), _findings(report), _counts(report), _passes(report)))
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n<h1>{title}</h1>\n{body}\n</html>\n"
    )


def _facts(report: Report) -> str:
    facts, tally = report.facts, report.tally
    text = (
        f"TVM {facts.tvm}, {', '.join(facts.targets)}, seed {facts.seed}: {tally.cases} cases in {facts.wall_s:.0f} s, "
        f"{share(tally.generated - tally.invalid, tally.generated)} valid."
    )
    not_judged = not_judged_line(tally)
    if not_judged:
        text += f" Not judged: {not_judged}."
    fault = f'<p class="fault">Not to be trusted: {escape(facts.own_fault)}</p>' if facts.own_fault else ""
    return f"<p>{escape(text)}</p>{fault}"


def _findings(report: Report) -> str:
    if not report.findings:
        return "<p>No finding.</p>"
    rows = "\n".join(_finding(row) for row in (*report.new, *report.known))
    heads = ("culprit", "symptom", "oracle", "tier", "seen", "message", "repro")
    return f"<h2>Findings</h2>\n<table><tr>{_cells('th', heads)}</tr>\n{rows}</table>"


def _finding(row: FindingRow) -> str:
    cells = _cells("td", (row.where, row.symptom, row.oracle, row.tier, row.count, row.message))
    link = f'<td><a href="{escape(row.repro)}"><code>{escape(row.repro)}</code></a></td>'
    return f'<tr class="{"known" if row.known else "new"}">{cells}{link}</tr>'


def _passes(report: Report) -> str:
    rows = ((name, *(counts[column] for column in PASS_COLUMNS)) for name, counts in neediest_first(report.tally))
    return f"<h2>Passes, those that fire least first</h2>\n{_table(('pass', *PASS_COLUMNS), rows)}"


def _counts(report: Report) -> str:
    tally = report.tally
    tables = (
        ("Skipped", missed(tally)),
        ("Inconclusive", tally.inconclusive),
        ("Nothing to judge: the oracle is about something else", tally.not_applicable),
    )
    return "\n".join(
        f"<h2>{title}</h2>\n{_table(('reason', 'number'), largest_first(counts))}" for title, counts in tables if counts
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = "\n".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{_cells('th', heads)}</tr>\n{lines}</table>"


def _cells(tag: str, values: Sequence[object]) -> str:
    return "".join(
        f'<{tag} class="n">{value}</{tag}>' if isinstance(value, int) else f"<{tag}>{escape(str(value))}</{tag}>"
        for value in values
    )
