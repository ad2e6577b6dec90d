"""What `passfuzz reduce` does in its process with a failure of an oracle. By a user's predicate: see `by_predicate`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import tvm

from corpus.causes.signature import operators_in, signature_of
from corpus.finding import Finding, stats_row
from corpus.findings import folder_of, stored_from, with_each_setting
from corpus.rate import ReproRate
from corpus.reduce import Candidate, Smallest, as_case
from corpus.reduce.candidate import count_bindings, count_statements
from corpus.registry import SHIPPED, read_registry
from corpus.scripts.repro import can_be_by_reference, repro_text
from corpus.store import contents_of
from fuzzer.oneshot.keep import found_in, line_of, lines_of, matches
from fuzzer.oneshot.messages import STOP, Better, ByReference, Kept, NothingFails, Reduction, Request
from fuzzer.oneshot.prepare import NotCarriedOut, Subject
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Say
from fuzzer.protocol import Failure
from fuzzer.results import StepRow
from fuzzer.similar import similar
from fuzzer.trial.rejudge import Rejudge
from fuzzer.trial.shrinking.plainer_target import plainer
from fuzzer.trial.shrinking.shrink import expectations_of, shrink
from generators import tvm_api
from generators.case import Case, ModuleText
from oracles.evidence import AcrossProcesses
from oracles.table import NEED_NUMBERS
from oracles.verdict import Failed

MEASURED = 10
"""How often a failure is judged again that did not show again at once: its rate is told."""
GOES_ON = "The smallest so far, not confirmed: the reduction goes on, or did not get to its end."
AHEAD_S = 1e9
"""Seconds that a clock is ahead where the user has ended the reduction."""
WAITS = 4
"""After news, times as long as telling it took before the next."""
PRINTED_WHOLE = 40
"""Up to so many bindings and statements the best so far is printed as a script that is known to say all of it: reading
it back takes longer than a trial where it is large."""


def stopped(request: Request) -> bool:
    """Whether the user has asked to end with the smallest so far."""
    return (Path(request.scratch) / STOP).exists()


def clock_of(request: Request) -> Callable[[], float]:
    """Seconds; far ahead once the user has asked to end with the smallest so far."""
    return lambda: time.monotonic() + (AHEAD_S if stopped(request) else 0.0)


def step_rows(smallest: Smallest) -> tuple[StepRow, ...]:
    """What each step has cost and given; the clock of a search that the user has ended is ahead by AHEAD_S."""
    return tuple(
        StepRow(step.name, step.tried, step.accepted, round(step.seconds % AHEAD_S, 3), step.fault)
        for step in smallest.steps
    )


def sizes_of(candidate: Candidate) -> tuple[int, int, int]:
    """Its bindings, statements and passes."""
    return count_bindings(candidate.module), count_statements(candidate.module), len(candidate.passes)


def reduce_by_oracle(subject: Subject, say: Say) -> None:
    """Says Kept, Better for each success, and Reduction with the repros of the smallest case found, one per fill; or
    NothingFails."""
    found = found_in(subject)
    if found.kept is None:
        say(NothingFails(found.tried))
        return
    say(Kept(line_of(found.kept), *sizes_of(subject.start), lines_of(found.others)))
    _Reduce(subject, found.kept, list(found.others), say).run()


class Latest:
    """Tells the latest news, and at most a fifth of the time: news takes up to a second, and some is old by then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._news: Callable[[], None] | None = None
        self._due = -math.inf

    def put(self, news: Callable[[], None]) -> None:
        """Has this news told in place of that before, at once where some is due."""
        self._news = news
        self.tell_if_due()

    def tell_if_due(self) -> None:
        """Tells what there is where that is due."""
        if self._clock() >= self._due:
            self.tell()

    def tell(self) -> None:
        """Tells what there is."""
        if self._news is None:
            return
        news, self._news = self._news, None
        began = self._clock()
        news()
        self._due = self._clock() + WAITS * (self._clock() - began)


class _Reduce:
    """One reduction, and who looks on while it runs (`fuzzer.trial.reduction_watch.Watch`)."""

    def __init__(self, subject: Subject, failure: Failure, others: list[Failure], say: Say) -> None:
        start = subject.start
        passes = start.passes if failure.step is None else start.passes[: failure.step + 1]
        self._subject = subject
        self._failure = failure
        self._others = others
        self._say = say
        self._start = Candidate(start.module, start.setup, passes, start.calls)
        self._like = replace(subject.request.case, passes=passes, setup=start.setup, calls=start.calls)
        self._began = time.monotonic()
        self._size: tuple[int, int, int] | None = None
        self._best = Latest()
        self._searched: Smallest | None = None
        self.clock = clock_of(subject.request)

    def run(self) -> None:
        self._take_plainer_target()
        subject, failure = self._subject, self._failure
        asked = (subject.plan, subject.repertoire, failure, self._start, self._like, subject.request.time_s)
        try:
            finding = shrink(*asked, watch=self)
        finally:
            self._best.tell()
        shows = None
        if not isinstance(finding, Finding):
            shows = self._rate()
            finding = self._as_finding(self._start, failure)
        finding = replace(finding, unreduced=None)  # The module that the user gave is there.
        stored = [(one, stored_from(one)) for one in with_each_setting(finding)]
        registry, smallest = read_registry(SHIPPED), self._searched
        near = similar(finding, registry, (), {})
        entry = registry.match(finding.cause, f"{finding.verdict.message}\n{finding.verdict.detail}")
        stats = finding.reduced
        reduced = self._unreduced() if stats is None else stats_row(stats, len(finding.case.passes))
        self._say(
            Reduction(
                tuple(repro_text(case, single=True) for _, case in stored),
                {**reduced, "seconds": round(time.monotonic() - self._began, 3)},
                finding.signature.slug,
                finding.case.module.json,
                tuple(folder_of(one, near) for one, _ in stored),
                smallest is None or smallest.finished,
                lines_of(self._others),
                () if smallest is None else step_rows(smallest),
                shows,
                line_of(failure),
                "" if entry is None else entry.title,
                stopped(subject.request),
                smallest is not None and smallest.whole,
                _by_reference(stored[0][0], near),
                subject.note,
            )
        )

    def _take_plainer_target(self) -> None:
        subject = self._subject
        plan = plainer(subject.plan, subject.repertoire, self._failure, self._start, self)
        self._subject, self._like = replace(subject, plan=plan), replace(self._like, target=plan.target)

    def _rate(self) -> ReproRate:
        """How often the failure shows in MEASURED tries, where it did not when it was judged alone.

        Raises NotCarriedOut where it never does."""
        subject, failure = self._subject, self._failure
        times = 0
        if not isinstance(failure.evidence, AcrossProcesses):
            recorder = Recorder.create(Path(subject.plan.scratch) / "flight-rate")
            rejudge = Rejudge(subject.plan, subject.repertoire, failure, recorder, self)
            times = sum(rejudge.shows(self._start, number) for number in range(MEASURED))
        if not times:
            how = f"fails once and not again in {MEASURED} tries when it is judged alone"
            raise NotCarriedOut(f"{line_of(failure)}: {how}", usage=False)
        return ReproRate(times, MEASURED)

    def _unreduced(self) -> dict[str, float]:
        bindings, statements, passes = sizes_of(self._start)
        sizes = {"bindings_before": bindings, "bindings": bindings}
        sizes |= {"statements_before": statements, "statements": statements}
        return {**sizes, "passes_before": passes, "passes": passes, "oracle_calls": MEASURED}

    # --- looking on -----------------------------------------------------------------------------------------

    @property
    def tries(self) -> int:
        return self._subject.request.keep.flaky

    @property
    def jobs(self) -> int:
        return self._subject.request.jobs

    @property
    def stopped(self) -> bool:
        return stopped(self._subject.request)

    def fits(self, failure: Failure) -> bool:
        pattern = self._subject.request.keep.message
        return pattern is None or matches(failure, pattern)

    def asks(self) -> None:
        self._best.tell_if_due()

    def better(self, candidate: Candidate, failure: Failure, calls: int) -> None:
        """Sends what is on disk from then on, soon. A second search begins with the whole case again: what is larger
        than the best so far is not told."""
        sizes = sizes_of(candidate)
        if self._size is not None and sum(sizes) > sum(self._size):
            return
        self._size = sizes
        spent = time.monotonic() - self._began

        def tell() -> None:
            stored = stored_from(self._as_finding(candidate, failure))
            repro = repro_text(stored, single=True)
            files = contents_of(stored, repro_text(stored), f"# {stored.title}\n\n{GOES_ON}\n")
            self._say(Better(*sizes, calls, spent, repro, stored.case.module.json, files))

        self._best.put(tell)

    def met(self, failure: Failure) -> None:
        if len(self._others) < 1000:
            self._others.append(failure)

    def searched(self, smallest: Smallest) -> None:
        self._searched = smallest

    def _as_finding(self, candidate: Candidate, failure: Failure) -> Finding:
        """A candidate as a finding of which only what its script needs is known."""
        subject = self._subject
        case = _case_of(candidate, self._like)
        verdict = Failed(
            failure.symptom, failure.message, failure.detail, failure.culprit, failure.evidence, failure.difference
        )
        return Finding(
            case=case,
            verdict=verdict,
            oracle=failure.oracle,
            signature=signature_of(failure.oracle, verdict, failure.culprit, operators_in(case.module.script)),
            tier=failure.tier,
            at_s=0.0,
            tvm=str(tvm.__version__),
            expectations=expectations_of(candidate, subject.plan, subject.repertoire)
            if failure.oracle in NEED_NUMBERS
            else (),
            space=subject.repertoire.space_of(failure.culprit),
        )


def _by_reference(finding: Finding, near: Sequence[tuple[str, str]]) -> ByReference | None:
    """The finding as one that the reference shows; None where that has nothing to say of it."""
    if not can_be_by_reference(stored_from(finding)):
        return None
    folder = folder_of(replace(finding, setting=replace(finding.setting, by_reference=True)), near)
    return ByReference(folder, finding.oracle, finding.verdict.symptom)


def _case_of(candidate: Candidate, like: Case) -> Case:
    """The candidate as a case. A large module is not read back: what says all of it is its JSON."""
    module = candidate.module
    if count_bindings(module) + count_statements(module) <= PRINTED_WHOLE:
        return as_case(candidate, like)
    text = ModuleText(tvm_api.script_of(module), tvm_api.json_of(module))
    return replace(like, module=text, setup=candidate.setup, passes=candidate.passes, calls=candidate.calls)
