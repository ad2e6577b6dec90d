"""Numbers, causes and findings in words and in order, said the same way in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import assert_never

from corpus.causes.severity import Severity
from corpus.escapes import one_line
from corpus.number_of import number_of
from oracles.evidence import ReferenceTrap
from oracles.verdict import Skipped
from reports.causes import CauseRow
from reports.finding_row import FindingRow
from reports.severity import best, is_odd, severity
from reports.summary import UNCONFIRMED, UNREDUCED_FILE, RunFacts
from reports.tally import PassColumn, Tally

SHOWN_PASSES = 5
"""Passes that are named of many causes in one line."""
SHOWN_CAUSES = 20
"""New causes that have a line where there is room for one screen of SCREEN."""
SCREEN = 40
TIERS = (
    "Tier A: an official pipeline of TVM shows it. Tier B: a pass in its documented phase does. "
    "Tier C: only an odd order of passes does."
)


@dataclass(frozen=True, slots=True)
class SeverityWords:
    """A severity for people. title: of several causes. why: what it means, one sentence."""

    title: str
    why: str

    @property
    def anchor(self) -> str:
        """The name of its section on the page."""
        return self.title.lower().replace(" ", "-")


SEVERITY_WORDS: Mapping[Severity, SeverityWords] = {
    "silent wrong result": SeverityWords("Silent wrong results", "The program runs to its end and gives other values."),
    "native crash": SeverityWords("Native crashes", "The process dies of a signal, without a Python exception."),
    "official pipeline": SeverityWords("Official pipelines", "A pipeline that TVM ships fails on a valid program."),
    "documented phase": SeverityWords("Documented phases", "A pass fails on a module of the phase it is for."),
    "odd order": SeverityWords("Odd orders of passes", "Only an order that no pipeline has shows it."),
}
"""Of the findings of a run, whose severity is never "limitation"."""


def title(cause: CauseRow, of_issue: str = "") -> str:
    """What happens, in one line: the registry's title, that of the issue, or what its best finding says."""
    shown = best(cause)
    named = next((row.title for row in cause.findings if row.title), "")
    return one_line(named or of_issue or _shown_message(shown))


def _shown_message(row: FindingRow) -> str:
    """What a finding says: the message of a trap names the place alone."""
    if isinstance(row.evidence, ReferenceTrap) and row.message:
        return f"{row.symptom}: {row.message}"
    return row.message or row.symptom


def one_screen(causes: Sequence[CauseRow]) -> tuple[list[CauseRow], list[CauseRow]]:
    """Of causes in the order of `worst_first` the new ones that have a line on a screen, and those left out. Odd
    orders of passes have none: `several` says them in one."""
    news = [cause for cause in causes if not cause.known and not is_odd(cause)]
    return news[:SHOWN_CAUSES], news[SHOWN_CAUSES:]


def not_shown(causes: Sequence[CauseRow]) -> str:
    """What is left out on a screen, in a line."""
    by_severity = Counter(severity(cause) for cause in causes)
    parts = (f"{number} {name}" for name, number in by_severity.items())
    return f"and {len(causes)} more: {', '.join(parts)}"


def cut(text: str, most: int) -> str:
    """The text in at most so many characters."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"


def several(causes: Sequence[CauseRow], what: str) -> str:
    """Causes in one line, by the passes that have most of them; empty where there are none."""
    if not causes:
        return ""
    by_pass = largest_first(Counter(best(cause).where for cause in causes))
    shown = [name if number == 1 else f"{name} ({number})" for name, number in by_pass[:SHOWN_PASSES]]
    more = [f"{len(by_pass) - SHOWN_PASSES} more passes"] if len(by_pass) > SHOWN_PASSES else []
    return one_line(f"{len(causes)} {what}: {', '.join(shown + more)}")


def share(part: float, whole: float) -> str:
    """A percentage, "-" of nothing."""
    return f"{part / whole:.1%}" if whole else "-"


def largest_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The largest counts first, equal ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def missed(tally: Tally) -> dict[str, int]:
    """What should have been judged and was not: what was skipped without that where there was nothing to judge."""
    apart = {Skipped(reason, applies=False).key for reason in tally.not_applicable}
    return {reason: number for reason, number in tally.skipped.items() if reason not in apart}


def cases_rows(tally: Tally) -> list[tuple[str, int, str]]:
    """Cases from drawing to judging: what, how many, their share."""
    return [
        ("drawn", tally.generated, ""),
        *([("not to be drawn", tally.undrawn, "")] if tally.undrawn else []),
        ("wrong before any pass (our fault)", tally.invalid, share(tally.invalid, tally.generated)),
        ("judged", tally.cases, share(tally.cases, tally.generated)),
        *(
            [("of these, from modules of --corpus", tally.seeded, share(tally.seeded, tally.cases))]
            if tally.seeded
            else []
        ),
        ("results compared by value", tally.numeric_verdicts, ""),
    ]


def neediest_first(tally: Tally) -> list[tuple[str, dict[PassColumn, int]]]:
    """The passes that changed the fewest modules first: what the generator serves worst."""
    return sorted(tally.passes.items(), key=lambda item: (item[1]["changed"], item[1]["applied"], item[0]))


def ended_line(facts: RunFacts) -> str:
    """What a reader must know of how the run ended, and what is not in its report; empty where there is neither."""
    return " ".join(line for line in (how_ended(facts), beside_line(facts)) if line)


def beside_line(facts: RunFacts) -> str:
    """What was seen in a run beside its findings, and where it stands; empty where there is nothing."""
    lines = []
    if facts.unreduced:
        lines.append(f"{not_reduced(facts.unreduced, facts.unreduced_known)}: see {UNREDUCED_FILE}.")
    if facts.unconfirmed:
        lines.append(f"{not_shown_again(facts.unconfirmed)}: see {UNCONFIRMED}.")
    return " ".join(lines)


def not_shown_again(number: int) -> str:
    """What a run has seen once alone, as the beginning of a sentence."""
    return f"{number} {'failure that was seen has' if number == 1 else 'failures that were seen have'} not shown again"


def not_reduced(number: int, likely_known: int) -> str:
    """What was seen in a run beside its findings, and is in no count of causes, as the beginning of a sentence.

    likely_known: how many of them look like known causes, which are reduced last."""
    begins = f"{number} {'failure was' if number == 1 else 'failures were'} seen and not reduced"
    if likely_known < number:
        new = number - likely_known
        return f"{begins}, and may be new" if not likely_known else f"{begins}, of which {new} may be new"
    return f"{begins}, and {'looks' if number == 1 else 'look'} like known causes"


def how_ended(facts: RunFacts) -> str:
    """How a run ended, in a sentence; empty where it went to its end, or own_fault says more."""
    match facts.ended:
        case "done" | "fault":
            return ""
        case "interrupted":
            return "The run was interrupted before its end."
        case None:
            return "The run has not ended: it is still running, was killed, or could not write its end."
        case "unknown":
            if facts.interrupted:
                return "The run was interrupted before its end."
            return "Its files do not say whether the run went to its end."
        case _:
            assert_never(facts.ended)


def finding_line(row: FindingRow) -> str:
    """A finding in one line, culprit first."""
    known = " (known)" if row.known else ""
    return one_line(f"{row.where}: {row.symptom}{known}, by {row.oracle}, tier {row.tier}: {row.message}")


def progress_line(tally: Tally, seconds: float) -> str:
    """Cases, cases per second, and the share of generated cases that was valid."""
    rate = tally.cases / seconds if seconds > 0 else 0.0
    valid = f", {1 - tally.invalid_share:.1%} valid" if tally.generated else ""
    undrawn = f", {tally.undrawn} not drawn" if tally.undrawn else ""
    return f"{number_of(tally.cases, 'case')}{undrawn}, {rate:.1f}/s{valid}"
