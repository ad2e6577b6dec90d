"""The report as one self-contained page: no script, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.escapes import IN_MARKUP, Html
from reports.finding_row import FindingRow
from reports.summary import Report
from reports.tally import PASS_COLUMNS
from reports.words import ended_line, largest_first, missed, neediest_first, not_judged_line, share

NAME = "html"
FILE = "report.html"
ESCAPE = IN_MARKUP

_STYLE = Html("""
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
.known { opacity: .6 } .fault { color: #c00; font-weight: bold } code { font-size: 90% }
""")
_NEW, _KNOWN, _HEAD, _CELL = Html("new"), Html("known"), Html("th"), Html("td")
_NOTHING = Html("")


def render(report: Report) -> str:
    """The whole page."""
    title = Html.of("passfuzz: {} new, {} known", len(report.new), len(report.known))
    body = Html.joined("\n", (_facts(report), _findings(report), _counts(report), _passes(report)))
    return Html.of(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>{}</title>\n"
        "<style>{}</style>\n<h1>{}</h1>\n{}\n</html>\n",
        *(title, _STYLE, title, body),
    )


def _facts(report: Report) -> Html:
    facts, tally = report.facts, report.tally
    text = Html.of(
        "TVM {}, {}, seed {}: {} cases in {} s, {} valid.",
        *(facts.tvm, ", ".join(facts.targets), facts.seed, tally.cases, format(facts.wall_s, ".0f")),
        share(tally.generated - tally.invalid, tally.generated),
    )
    not_judged = not_judged_line(tally)
    if not_judged:
        text = Html.of("{} Not judged: {}.", text, not_judged)
    fault = Html.of('<p class="fault">Not to be trusted: {}</p>', facts.own_fault) if facts.own_fault else _NOTHING
    doubts = [line for line in (ended_line(facts), *report.notes) if line]
    said = Html.joined("", (Html.of('<p class="fault">{}</p>', line) for line in doubts))
    return Html.of("<p>{}</p>{}{}", text, said, fault)


def _findings(report: Report) -> Html:
    if not report.findings:
        return Html("<p>No finding.</p>")
    rows = Html.joined("\n", (_finding(row) for row in (*report.new, *report.known)))
    heads = ("culprit", "symptom", "oracle", "tier", "seen", "message", "repro")
    return Html.of("<h2>Findings</h2>\n<table><tr>{}</tr>\n{}</table>", _cells(_HEAD, heads), rows)


def _finding(row: FindingRow) -> Html:
    cells = _cells(_CELL, (row.where, row.symptom, row.oracle, row.tier, row.count, row.message))
    link = Html.of('<a href="{}"><code>{}</code></a>', row.script, row.script) if row.script else _NOTHING
    return Html.of('<tr class="{}">{}<td>{}</td></tr>', _KNOWN if row.known else _NEW, cells, link)


def _passes(report: Report) -> Html:
    rows = ((name, *(counts[column] for column in PASS_COLUMNS)) for name, counts in neediest_first(report.tally))
    return Html.of("<h2>Passes, those that fire least first</h2>\n{}", _table(("pass", *PASS_COLUMNS), rows))


def _counts(report: Report) -> Html:
    tally = report.tally
    tables = (
        ("Skipped", missed(tally)),
        ("Inconclusive", tally.inconclusive),
        ("Nothing to judge: the oracle is about something else", tally.not_applicable),
    )
    parts = (
        Html.of("<h2>{}</h2>\n{}", title, _table(("reason", "number"), largest_first(counts)))
        for title, counts in tables
        if counts
    )
    return Html.joined("\n", parts)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    lines = Html.joined("\n", (Html.of("<tr>{}</tr>", _cells(_CELL, row)) for row in rows))
    return Html.of("<table><tr>{}</tr>\n{}</table>", _cells(_HEAD, heads), lines)


def _cells(tag: Html, values: Sequence[object]) -> Html:
    cells = (
        Html.of('<{} class="n">{}</{}>' if isinstance(value, (int, float)) else "<{}>{}</{}>", tag, value, tag)
        for value in values
    )
    return Html.joined("", cells)
