"""Judges candidates of a failure in copies of this process, several at the same time. Worker processes only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from corpus.reduce import Candidate
from fuzzer.protocol import Failure
from fuzzer.trial.reduction_watch import Unwatched, Watch
from fuzzer.trial.rejudge import Rejudge
from oracles.forked import ChildRaised, Ended, Pending, begun

PATIENCE_S = 600.0
"""Seconds that a candidate may take in all: each process that judges it has its own limit, which is far below."""


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """What a copy of this process has to say of a candidate. failure: that of the candidate, None where it does not
    fail in the same way. met: how it fails in other ways."""

    failure: Failure | None
    met: tuple[Failure, ...]


@dataclass(slots=True)
class ForkedJudge:
    """Begins to judge candidates. whole: the judging, with all that must hold, by `rejudge`. told: what is done with
    the answer, in this process; alone: judges in this process, where a copy has ended."""

    rejudge: Rejudge
    watch: Watch
    whole: Callable[[Candidate], bool]
    told: Callable[[Candidate, CandidateAnswer], bool]
    alone: Callable[[Candidate], bool]

    @property
    def at_once(self) -> int:
        return self.watch.jobs

    def __call__(self, candidate: Candidate) -> ForkedAnswer:
        return ForkedAnswer(self, candidate, begun(lambda: self._judged(candidate)))

    def _judged(self, candidate: Candidate) -> CandidateAnswer:
        notes = _Notes(self.watch)
        self.rejudge.watched_by(notes)
        interesting = self.whole(candidate)
        return CandidateAnswer(self.rejudge.last if interesting else None, tuple(notes.noted))


@dataclass(slots=True)
class ForkedAnswer:
    """An answer of a copy of this process."""

    judge: ForkedJudge
    candidate: Candidate
    pending: Pending[CandidateAnswer]

    def interesting(self) -> bool:
        try:
            said = self.pending.result(PATIENCE_S)
        except ChildRaised:
            return self.judge.alone(self.candidate)
        return self.judge.alone(self.candidate) if isinstance(said, Ended) else self.judge.told(self.candidate, said)

    def drop(self) -> None:
        self.pending.drop()


@dataclass(slots=True)
class _Notes(Unwatched):
    """Notes what is met, and asks `watch` for all else."""

    watch: Watch
    noted: list[Failure] = field(default_factory=list)

    @property
    def tries(self) -> int:  # type: ignore[override]
        return self.watch.tries

    @property
    def stopped(self) -> bool:  # type: ignore[override]
        return self.watch.stopped

    def fits(self, failure: Failure) -> bool:
        return self.watch.fits(failure)

    def met(self, failure: Failure) -> None:
        self.noted.append(failure)
