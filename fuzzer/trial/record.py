"""What is kept of the judging of a case: counters, and a Failure for each failed verdict that counts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from typing_extensions import assert_never

from corpus.causes.signature import normalise
from fuzzer.protocol import Failure
from fuzzer.trial.operators_met import MET, is_counted
from fuzzer.trial.options import OnVerdict, unheard
from generators.case import Tier
from generators.passes.table import PASSES
from oracles.table import tier_at
from oracles.trace import Step
from oracles.tvm_errors import in_a_line
from oracles.verdict import Failed, Inconclusive, Passed, Skipped, Verdict
from reports.tally import PassColumn, Tally, bump


@dataclass(slots=True)
class Record:
    """The counters and failures of one case.

    only: names of passes whose failures count; None for all. tier: of failures that belong to the case as a whole.
    """

    index: int
    tier: Tier = "B"
    only: frozenset[str] | None = None
    on_verdict: OnVerdict = unheard
    counts: Tally = field(default_factory=Tally)
    failures: list[Failure] = field(default_factory=list)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Counts the CPU time of the block."""
        start = time.thread_time()
        yield
        bump(self.counts.phases, what, time.thread_time() - start)

    def skip(self, reason: str, amount: int = 1) -> None:
        """Counts something that was not judged."""
        bump(self.counts.skipped, reason, amount)

    def count_step(self, step: Step) -> None:
        """Counts the application of a pass, and in a share of the cases what it met."""
        name = step.call.name
        if is_counted(self.index):
            with self.timed("counters"):
                met = MET.of(step.before)
                columns: tuple[PassColumn, ...] = ("applied", "changed") if step.changed else ("applied",)
                self.counts.count_met(name, met.operators, met.nodes, *columns)
        self.counts.count_pass(name, "applied")
        if step.error is not None and step.error.explicit:
            self.counts.count_pass(name, "rejected")
            if name not in PASSES:
                self.counts.count_refusal(name, normalise(in_a_line(step.error), in_order=True))
        if step.changed:
            self.counts.count_pass(name, "changed")

    def add_verdict(self, oracle: str, verdict: Verdict, step: Step | None = None, tail: tuple[str, ...] = ()) -> None:
        """Counts a verdict, and keeps a failed one. step: the one that was judged, None for the whole case: then a
        failed verdict names its culprit.

        tail: passes of an official pipeline that were applied after those of the case, up to the culprit.
        """
        self.on_verdict(oracle, None if step is None else step.call.name, verdict)
        match verdict:
            case Passed():
                self.counts.count_oracle(oracle, "passed")
            case Skipped(reason, applies):
                self.counts.count_oracle(oracle, "skipped")
                self.skip(verdict.key)
                if not applies:
                    bump(self.counts.not_applicable, reason, 1)
            case Inconclusive(reason):
                self.counts.count_oracle(oracle, "inconclusive")
                bump(self.counts.inconclusive, reason, 1)
                if step is not None:
                    self.counts.count_pass(step.call.name, "undecided")
            case Failed():
                self._fail(oracle, verdict, step, tail)
            case _:
                assert_never(verdict)

    def _fail(self, oracle: str, verdict: Failed, step: Step | None, tail: tuple[str, ...]) -> None:
        culprit = verdict.culprit or (None if step is None else step.call.name)
        assert culprit is not None, "what is said of a whole case names its culprit"
        if not self._blames(step, culprit):
            self.counts.count_oracle(oracle, "skipped")
            self.skip(f"not under test: {culprit}")
            return
        self.counts.count_oracle(oracle, "failed")
        if step is not None:
            self.counts.count_pass(step.call.name, "failed")
            if is_counted(self.index):
                met = MET.of(step.before)
                self.counts.count_met(step.call.name, met.operators, met.nodes, "failed")
        self.failures.append(
            Failure.of(
                self.index,
                oracle,
                verdict,
                culprit,
                tier_at(oracle, self.tier if step is None else step.tier),
                step=None if step is None else step.index,
                tail=tail,
            )
        )

    def _blames(self, step: Step | None, culprit: str) -> bool:
        return self.only is None or (culprit in self.only and (step is None or step.under_test))

    def count_numbers(self, oracles: Iterable[str]) -> None:
        """Counts a verdict on numbers, where one of these oracles has judged any."""
        self.counts.numeric_verdicts += any(map(self.has_judged, oracles))

    def has_judged(self, oracle: str) -> bool:
        """Whether the oracle has said that something is right or wrong."""
        said = self.counts.oracles.get(oracle, {})
        return bool(said.get("passed") or said.get("failed"))

    def take(self) -> tuple[Tally, list[Failure]]:
        """What has been counted and what failed since the last time; the record is empty then."""
        counts, failures = self.counts, self.failures
        self.counts, self.failures = Tally(), []
        return counts, failures
