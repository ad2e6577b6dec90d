"""Numbers and findings in words and in order, said the same way in every format."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import assert_never

from corpus.escapes import one_line
from oracles.verdict import Skipped
from reports.finding_row import FindingRow
from reports.summary import UNREDUCED_FILE, RunFacts
from reports.tally import PassColumn, Tally

SHOWN_REASONS = 3
"""Reasons that are named where there is room for one line."""


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


def not_judged_line(tally: Tally, shown: int = SHOWN_REASONS) -> str:
    """What was not judged and why, at a glance; empty where everything was."""
    skipped = missed(tally)
    both = largest_first({**skipped, **tally.inconclusive})
    if not both:
        return ""
    reasons = [f"{reason} ({number})" for reason, number in both[:shown]]
    more = [f"and {len(both) - shown} more reasons"] if len(both) > shown else []
    counts = f"{sum(skipped.values())} skipped, {sum(tally.inconclusive.values())} inconclusive"
    return f"{counts}: {', '.join(reasons + more)}"


def neediest_first(tally: Tally) -> list[tuple[str, dict[PassColumn, int]]]:
    """The passes that changed the fewest modules first: what the generator serves worst."""
    return sorted(tally.passes.items(), key=lambda item: (item[1]["changed"], item[1]["applied"], item[0]))


def ended_line(facts: RunFacts) -> str:
    """What a reader must know of how the run ended; empty where it went to its end, or own_fault says more."""
    left = f"{not_reduced(facts.unreduced)}: see {UNREDUCED_FILE}." if facts.unreduced else ""
    return " ".join(line for line in (_ended_line(facts), left) if line)


def not_reduced(number: int) -> str:
    """What was seen in a run beside its findings, as the beginning of a sentence."""
    return f"{number} more {'failure was' if number == 1 else 'failures were'} seen and not reduced"


def _ended_line(facts: RunFacts) -> str:
    match facts.ended:
        case "done" | "fault":
            return ""
        case "interrupted":
            return "The run was interrupted before its end."
        case None:
            return "The run has not ended: it is still running, or it was killed."
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
    return f"{tally.cases} cases, {rate:.1f}/s, {1 - tally.invalid_share:.1%} valid"
