"""Which of its failures a reduction keeps, in the order of a user's mind: passes that crash, then structure, then what
results say and compute, builds last and only where they are asked for. Rejections come after all failures. Before all
of them comes what a case is known to fail by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from corpus.number_of import number_of
from fuzzer.oneshot.check import outcome_of
from fuzzer.oneshot.messages import Keep, Recorded
from fuzzer.oneshot.prepare import NotCarriedOut, Subject
from fuzzer.protocol import Failure
from fuzzer.results import CheckRow
from fuzzer.trial.options import oracle_names
from fuzzer.trial.rejudge import Likeness
from oracles.builds.cpu_builds import expanded
from oracles.checks import survives
from oracles.table import BUILD, ORACLES
from oracles.verdict import REJECTS

SHOWN_OTHERS = 8
"""Failures besides the one that is kept that are named; more are counted."""
SHOWN_MESSAGE = 200
"""Characters of a message in a line of several facts."""


@dataclass(frozen=True, slots=True)
class FailureToKeep:
    """The failure to keep, None where there is none; the others; and what was tried, in lines for a reader."""

    kept: Failure | None
    others: tuple[Failure, ...] = ()
    tried: tuple[str, ...] = ()


def found_in(subject: Subject) -> FailureToKeep:
    """Judges the subject and chooses: builds are made only where nothing else fails, or where the case is known to fail
    by one. Raises NotCarriedOut for an oracle that has nothing to look at."""
    asked = asked_of(subject)
    quick = frozenset(name for name in asked if ORACLES[name].builders is None)
    crashed = outcome_of(subject, frozenset({survives.ORACLE.name}), rejections=True).failures
    recorded = subject.request.recorded
    if recorded is None or recorded.oracle not in asked - quick:
        found = _found(subject, quick, crashed)
        if found.kept is not None or quick == asked:
            return found
    return _found(subject, asked, crashed)


def _found(subject: Subject, asked: frozenset[str], crashed: Sequence[Failure]) -> FailureToKeep:
    """crashed: what the passes alone end in. An oracle that fails ends a case, so that a later crash is not seen."""
    keep, recorded = subject.request.keep, subject.request.recorded
    outcome = outcome_of(_up_to(subject, crashed), asked, rejections=True)
    failures = in_order(_each_once((*crashed, *outcome.failures)))
    chosen = [failure for failure in failures if _may_be_kept(failure, keep)]
    same = [failure for failure in chosen if recorded is not None and _is_recorded(failure, recorded)]
    alike = [failure for failure in chosen if recorded is not None and failure.oracle == recorded.oracle]
    kept = next(iter((*same, *alike, *chosen)), None)
    # A rejection is no failure: it is named only where nothing is kept, to say that it could be.
    others = tuple(one for one in failures if one is not kept and (kept is None or one.symptom != REJECTS))
    return FailureToKeep(kept, others, _tried(subject, asked, others, outcome.rows) if kept is None else ())


def _up_to(subject: Subject, crashed: Sequence[Failure]) -> Subject:
    """The subject without the pass that crashes, and those after it: what ends the process would end what other oracles
    have to say."""
    steps = [failure.step for failure in crashed if failure.step is not None]
    if not steps:
        return subject
    return replace(subject, start=replace(subject.start, passes=subject.start.passes[: min(steps)]))


def _each_once(failures: Iterable[Failure]) -> list[Failure]:
    return list({(one.oracle, one.symptom, one.culprit, one.message): one for one in failures}.values())


def in_order(failures: Iterable[Failure]) -> list[Failure]:
    """By the stage of the oracle, which is the order of a user's mind, and as they came. After them comes what a pass
    makes of a module that an earlier one has left ill-formed, and rejections last."""
    there = list(failures)
    broken = min((one.step for one in there if ORACLES[one.oracle].of_structure and one.step is not None), default=None)

    def rank(failure: Failure) -> tuple[bool, bool, int]:
        follows = broken is not None and failure.step is not None and failure.step > broken
        return failure.symptom == REJECTS, follows, ORACLES[failure.oracle].stage.value

    return sorted(there, key=rank)


def asked_of(subject: Subject) -> frozenset[str]:
    """The oracles to ask: the one that the user names, with survival; else all but those that build.

    Builds are asked where the user wants them, the ordinary one where no pass was named, so that the default build is
    what is looked at, and where the case is known to fail by one.
    """
    keep, known = subject.request.keep, oracle_names(subject.plan)
    if keep.oracle is not None:
        wanted = expanded((keep.oracle,)) & known
        if not wanted:
            raise NotCarriedOut(
                f"--oracle {keep.oracle}: has nothing to look at here; `passfuzz list oracles` shows them all"
            )
        return wanted | {survives.ORACLE.name}
    if keep.builds:
        return known
    asked = {name for name in known if ORACLES[name].builders is None}
    if subject.implied:
        asked.add(BUILD)
    if subject.request.recorded is not None:
        asked.add(subject.request.recorded.oracle)
    return frozenset(asked) & known


def _may_be_kept(failure: Failure, keep: Keep) -> bool:
    if keep.oracle is not None and failure.oracle not in expanded((keep.oracle,)):
        return False
    if failure.symptom == REJECTS and not (keep.rejections or keep.message):
        return False
    return keep.message is None or matches(failure, keep.message)


def matches(failure: Failure, pattern: str) -> bool:
    """Whether the message of a failure matches a user's regular expression, anywhere."""
    return re.search(pattern, failure.message) is not None


def _is_recorded(failure: Failure, recorded: Recorded) -> bool:
    known = Failure(
        0,
        recorded.oracle,
        recorded.symptom,
        recorded.message,
        "",
        recorded.culprit,
        failure.tier,
        evidence=recorded.evidence,
    )
    return Likeness.of(failure) == Likeness.of(known)


# --- words ----------------------------------------------------------------------------------------------


def line_of(failure: Failure) -> str:
    """A failure in a line: the oracle, the pass, and what is wrong."""
    message = failure.message if len(failure.message) <= SHOWN_MESSAGE else f"{failure.message[:SHOWN_MESSAGE]}..."
    what = f": {message}" if message else ""
    return f"{failure.oracle}: {failure.culprit}: {failure.symptom}{what}"


def lines_of(failures: Iterable[Failure]) -> tuple[str, ...]:
    """Failures in a line each, none twice; those beyond SHOWN_OTHERS are counted."""
    lines = list(dict.fromkeys(map(line_of, failures)))
    left = len(lines) - SHOWN_OTHERS
    return tuple(lines if left <= 0 else [*lines[:SHOWN_OTHERS], f"{left} more"])


def _tried(
    subject: Subject, asked: frozenset[str], others: Sequence[Failure], rows: Sequence[CheckRow]
) -> tuple[str, ...]:
    """What was looked at without success: passes, oracles, what was not asked, and what is wrong but not asked for."""
    keep = subject.request.keep
    passes = "what is left of the default build"
    if not subject.implied:
        passes = ", ".join(call.name for call in subject.start.passes)
    what = "no oracle fails" if keep.oracle is None else f"the oracle {keep.oracle} does not fail"
    if keep.message is not None:
        what += f" with a message that matches {keep.message}"
    lines = [f"{what} on this module under {passes}"]
    judged = {row.oracle for row in rows if row.verdict == "passed"}
    undecided = {row.oracle: row.message for row in rows if row.verdict == "inconclusive"}
    passes, oracles = number_of(len(subject.start.passes), "pass", "passes"), number_of(len(asked), "oracle")
    lines.append(f"tried: {passes}, {oracles}, of which {len(judged)} had a say")
    lines += [
        f"undecided: {oracle}: {why}" if why else f"undecided: {oracle}" for oracle, why in sorted(undecided.items())
    ]
    left_out = [name for name in oracle_names(subject.plan) - asked if ORACLES[name].builders is not None]
    if left_out and keep.oracle is None:
        lines.append(f"not tried: {len(left_out)} oracles that build (--builds)")
    if subject.note:
        lines.append(subject.note)
    lines += [_also(one) for one in others[:SHOWN_OTHERS]]
    return tuple(lines)


def _also(failure: Failure) -> str:
    how = "--rejections keeps it" if failure.symptom == REJECTS else "it is not what was asked for"
    return f"{line_of(failure)}: {how}"
