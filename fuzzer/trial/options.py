"""How cases are judged: which rows and oracles, what is under test, who gets the verdicts. Worker processes only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from generators.passes.row import PassRow, Phase
from generators.targets import DEFAULT
from oracles.activities import Announce, unannounced
from oracles.builds.cpu_builds import expanded, only_builds
from oracles.builds.needs import builder_of
from oracles.oracle import Oracle
from oracles.table import ORACLES
from oracles.tolerance import Tolerance
from oracles.verdict import BUILD, Verdict

OFTEN = 0.1
"""The least share of the steps, or cases, of which an oracle is asked that is named: enough that it is most of the
work, and that a case of forty steps still ends in a second or two."""
OnVerdict: TypeAlias = Callable[[str, str | None, Verdict], None]
"""Called with each verdict: the oracle, the pass whose step it judged (None for the whole case), and the verdict."""


def unheard(oracle: str, pass_name: str | None, verdict: Verdict) -> None:
    """For callers who want the counters and the failures alone."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How cases are judged.

    rows: a row for every pass that a case may name. names: what constructors of passes may refer to. only: names of
    passes whose failures count; None for all. force: shares of oracles are ignored and all of `oracles` are asked (for
    reduction and `check`). often: none is asked of less than OFTEN of its steps or cases. rejections: a pass that
    refuses a module fails. build_share: the share of the cases that are built. phase: where modules stand before any
    pass. tolerance: a user's own, for numbers.
    """

    rows: Mapping[str, PassRow]
    names: Mapping[str, object]
    oracles: frozenset[str]
    only: frozenset[str] | None = None
    build_share: float = 0.0
    force: bool = False
    often: bool = False
    rejections: bool = False
    target: str = DEFAULT
    phase: Phase = Phase.HIGH
    tolerance: Tolerance | None = None
    announce: Announce = unannounced
    on_verdict: OnVerdict = unheard

    def share_of(self, row: Oracle) -> float:
        """Of how many of its steps, or cases, an oracle is asked: 1.0 for all."""
        if self.force:
            return 1.0
        if self.only is not None and row.share_of_chosen is not None:
            return row.share_of_chosen
        return max(row.share, OFTEN) if self.often else row.share

    def counts(self, pass_name: str) -> bool:
        """Whether failures of a pass count."""
        return self.only is None or pass_name in self.only


def oracle_names(plan: Plan) -> frozenset[str]:
    """The oracles that the plan asks for and that have something to do on its target here."""
    names = expanded(plan.oracles) or frozenset(ORACLES)
    builder = builder_of(plan.target)
    return frozenset(name for name in names if name not in ORACLES or ORACLES[name].has_work_at(builder))


def options_of(plan: Plan, repertoire: Repertoire) -> JudgeOptions:
    """How a campaign judges."""
    names = oracle_names(plan)
    return JudgeOptions(
        rows=repertoire.rows,
        names=repertoire.names,
        oracles=names,
        only=None if repertoire.under_test is None else frozenset(repertoire.under_test),
        often=plan.often,
        build_share=1.0 if only_builds(names) or (plan.often and BUILD in names) else plan.build_share,
        target=plan.target,
        phase=Phase(plan.phase),
        tolerance=plan.tolerance,
    )
