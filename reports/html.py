"""The report as one self-contained page: causes first, then pictures, then counters. No network; templates in
`reports/templates/`.

The page runs one script and one style sheet of ours, which its Content-Security-Policy names by their hashes; text of
others is escaped by autoescape, after control characters have become visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import jinja2
from markupsafe import Markup

from corpus.causes.severity import ODD_ORDER, Severity
from corpus.escapes import IN_MARKUP, issue_url, one_line, visible
from corpus.number_of import number_of
from reports import pictures
from reports.causes import CauseRow, headline
from reports.finding_files import Files, FindingFiles, no_files
from reports.finding_row import FindingRow
from reports.page import environment, hashed, inlined
from reports.pairs import pairs_with_nodes, pairs_with_operators
from reports.reasons import ReasonGroup, grouped
from reports.severity import best, first_seen, severity, worst_first
from reports.summary import Report
from reports.tally import ORACLE_COLUMNS, Tally
from reports.words import (
    SEVERITY_WORDS,
    TIERS,
    cases_rows,
    cut,
    ended_line,
    missed,
    neediest_first,
    share,
    title,
)

NAME = "html"
FILE = "report.html"
ESCAPE = IN_MARKUP

MOST_TEXT = 3_500_000
"""Characters of scripts, issues and diffs on one page; the texts of the causes after that are only linked."""
LONGEST_TITLE = 300
_CALLED = re.compile(r"\bR\.([a-z_][\w.]{0,60})\(", re.ASCII)
"""What a script calls in TVMScript's name space of Relax: operators, and others that no row of a tally names."""


@dataclass(frozen=True, slots=True)
class DiffRun:
    """Neighbouring lines of a diff of one kind. tag: the HTML element that they stand in."""

    tag: str
    text: Markup


@dataclass(frozen=True, slots=True)
class ShownCause:
    """A cause as the page shows it; its texts are escaped.

    says_more: the message is not its title. is_issue: the text of the issue is one, no report of an older version.
    operators: what its script calls of Relax. left_out: the texts did not find room.
    """

    cause: CauseRow
    severity: Severity
    best: FindingRow
    at_s: float
    title: str
    says_more: bool
    number: int
    link: str
    script: Markup
    issue: Markup
    is_issue: bool
    operators: frozenset[str]
    difference: tuple[DiffRun, ...]
    fault: tuple[str, ...]
    cut: bool
    left_out: bool


@dataclass(frozen=True, slots=True)
class Section:
    """Causes by pass; of one severity, where they are new."""

    severity: Severity
    passes: tuple[tuple[str, tuple[ShownCause, ...]], ...]

    @property
    def size(self) -> int:
        """How many causes it has."""
        return sum(len(causes) for _, causes in self.passes)


def render(report: Report, files: Files = no_files) -> str:
    """The whole page. files: gives the texts of a finding."""
    causes = worst_first(report.causes)
    news = sum(not cause.known for cause in causes)
    shown = list(_shown(causes, files))
    template = _environment().get_template("report.html.j2")
    return template.render(
        report=report,
        facts=report.facts,
        tally=report.tally,
        headline=headline(report.findings),
        sections=_sections(shown[:news]),
        known=_section(sorted(shown[news:], key=_where)),
        tiers=TIERS,
        doubts=[line for line in (ended_line(report.facts), *report.notes) if line],
        time=pictures.over_time(causes, report.facts.wall_s),
        fire=pictures.fire_rates(report.tally, causes),
        grid=pictures.operators_by_pass(
            (one.best.where, one.operators & report.tally.ops.keys()) for one in shown if not one.cause.known
        ),
        met=(
            ("Operators that passes met", pictures.met_by_passes(report.tally.met_ops)),
            ("Kinds of TIR nodes that passes met", pictures.met_by_passes(report.tally.met_nodes)),
        ),
        pairs=(
            ("Operators with which passes have not fired", pairs_with_operators(report.tally)),
            ("Kinds of TIR nodes with which passes have not fired", pairs_with_nodes(report.tally)),
        ),
        pass_heat=_heat_of_passes(report.tally),
        operator_heat=_heat_of_operators(report.tally),
        cases=cases_rows(report.tally),
        stages=_stages(report.tally),
        passes=neediest_first(report.tally),
        oracle_columns=ORACLE_COLUMNS,
        reasons=_reasons(report.tally),
        **_inline(),
    )


# --- causes ---------------------------------------------------------------------------------------------


def _shown(causes: Iterable[CauseRow], files: Files) -> Iterator[ShownCause]:
    """The causes with their texts, as long as there is room for them."""
    room = MOST_TEXT
    for number, cause in enumerate(causes):
        one = _with_texts(cause, number, files(best(cause)))
        needed = len(one.script) + len(one.issue) + sum(len(run.text) for run in one.difference)
        if needed <= room:
            room -= needed
            yield one
        else:
            yield _with_texts(cause, number, FindingFiles(title=one.title), left_out=True)


def _with_texts(cause: CauseRow, number: int, texts: FindingFiles, left_out: bool = False) -> ShownCause:
    row, named = best(cause), title(cause, texts.title)
    return ShownCause(
        cause,
        severity(cause),
        row,
        first_seen(cause),
        cut(named, LONGEST_TITLE),
        named != one_line(row.message or row.symptom),
        number,
        issue_url(cause.link),
        _escaped(texts.script),
        _escaped(texts.issue),
        bool(texts.title and texts.issue),
        frozenset(f"relax.{name}" for name in _CALLED.findall(texts.script)),
        tuple(_runs(texts.difference)),
        texts.fault,
        texts.cut,
        left_out,
    )


def _runs(difference: str) -> Iterator[DiffRun]:
    """The lines of a unified diff, those of a kind together."""
    for tag, lines in groupby(difference.splitlines()[2:], _tag):
        yield DiffRun(tag, _escaped("\n".join(lines)))


def _tag(line: str) -> str:
    return {"+": "ins", "-": "del", "@": "b"}.get(line[:1], "span")


def _sections(shown: Iterable[ShownCause]) -> list[Section]:
    """By severity, in the order in which the causes come."""
    return [section for _, of in groupby(shown, lambda one: one.severity) if (section := _section(of))]


def _section(shown: Iterable[ShownCause]) -> Section | None:
    """Neighbouring causes of a pass together; None of no causes."""
    causes = list(shown)
    passes = tuple((name, tuple(of)) for name, of in groupby(causes, _where))
    return Section(causes[0].severity, passes) if causes else None


def _where(one: ShownCause) -> str:
    return one.best.where


# --- counters -------------------------------------------------------------------------------------------


def _heat_of_passes(tally: Tally) -> list[tuple[str, tuple[pictures.Heat, ...]]]:
    """Of each pass how often it was applied, changed a module, and failed an oracle; by name."""
    most = max((row["applied"] for row in tally.passes.values()), default=0)
    return [
        (
            name,
            (
                pictures.heat(row["applied"], most),
                pictures.heat_of_share(row["changed"], row["applied"]),
                pictures.heat_of_share(row["failed"], row["applied"]),
            ),
        )
        for name, row in sorted(tally.passes.items(), key=lambda item: item[0].lower())
    ]


def _heat_of_operators(tally: Tally) -> list[tuple[str, pictures.Heat]]:
    most = max(tally.ops.values(), default=0)
    return [(name, pictures.heat(number, most)) for name, number in sorted(tally.ops.items())]


def _stages(tally: Tally) -> list[tuple[str, str]]:
    return [(name, share(spent, tally.cpu_s)) for name, spent in sorted(tally.phases.items())]


def _reasons(tally: Tally) -> list[tuple[str, str, tuple[ReasonGroup, ...]]]:
    """What was not judged: a title, what it means, and the reasons."""
    kinds = (
        ("Skipped", "An oracle could not look at it.", missed(tally)),
        ("Undecided", "An oracle looked, and what it saw may be rounding or chance.", tally.inconclusive),
        (
            "Nothing to judge",
            "The oracle is about something else, another pass for example. These are no gaps.",
            tally.not_applicable,
        ),
    )
    return [(title, why, grouped(counts)) for title, why, counts in kinds if counts]


# --- the template ---------------------------------------------------------------------------------------


@cache
def _environment() -> jinja2.Environment:
    made = environment()
    made.globals.update(words=SEVERITY_WORDS, odd=ODD_ORDER, number_of=number_of)
    made.filters.update(share=share, clock=_clock)
    return made


def _escaped(text: str) -> Markup:
    return Markup.escape(visible(text))


def _clock(seconds: float) -> str:
    """A time of a run: "45 s", "12 min", "3.5 h"."""
    return pictures.seconds_label(round(seconds) if seconds < 120 else seconds, seconds)


@cache
def _inline() -> Mapping[str, Markup]:
    """The script and the style sheet, and their hashes for the policy."""
    texts = {name: inlined(file) for name, file in _INLINE.items()}
    return {**texts, **{f"{name}_hash": hashed(text) for name, text in texts.items()}}


_INLINE = {"style": "report.css", "script": "report.js"}
