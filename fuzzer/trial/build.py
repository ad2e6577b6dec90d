"""Builds what a case ends with: when that makes sense, what becomes of it, and whose fault a failure is.

How a module is built is in `oracles.builds.build`; which cases are built is said in `judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generators.passes.row import PassRow, Phase
from generators.passes.table import default_call
from oracles.blame import excuses, first_wrong, lowering_of
from oracles.builds import build as llvm
from oracles.builds.builders import BUILDERS, EMPTY_LAUNCH, Builder
from oracles.calls.protocol import Calling
from oracles.checks import survives
from oracles.checks.legalised import undispatched
from oracles.checks.survives import headline, states_limit
from oracles.evidence import InKernel
from oracles.reference.numbers import Unsure, Wrong
from oracles.trace import Raised, Step
from oracles.verdict import Failed, Inconclusive, Passed, Skipped, Verdict, not_applicable
from oracles.workbench import Workbench


def not_to_be_built(
    module: Any, phase: Phase, steps: Sequence[Step], applied: Sequence[str], *, between: bool, threads: bool
) -> Verdict | None:
    """Why a failing build of the module would prove nothing; None where it would prove something.

    applied: names of all passes, the setup's included. between: a pass out of its phase left the module between two.
    threads: some functions are for a device.
    """
    if any(not s.row.buildable or s.row.calling == "unknown" for s in steps):
        return not_applicable("the result is not meant to be built as it stands")
    if (reason := llvm.not_runnable(module)) is not None:
        return Skipped(f"build: {reason}")
    if phase is not Phase.HIGH and undispatched(module, applied):
        return Skipped("build: operators that only a pass before LegalizeOps lowers")
    if threads and phase >= Phase.PACKED:
        return Skipped("build: host and device functions have been parted")
    if between:
        return Skipped("build: a pass out of its phase left the module between two")
    return None


@dataclass(slots=True)
class BuildTrial:
    """Builds modules of one case. steps: how many passes the case has applied. builder: a row of BUILDERS. lowered_by:
    the passes that the last failing build had applied until then, empty where it failed behind them."""

    rows: Mapping[str, PassRow]
    bench: Workbench
    enter: Callable[[str], None]
    opt_level: int
    steps: int
    builder: str = "llvm"
    lowered_by: tuple[str, ...] = ()

    @property
    def _builder(self) -> Builder:
        return BUILDERS[self.builder]

    def verdict(self, module: Any, phase: Phase, calling: Calling | None = None) -> Verdict:
        """Whether a module builds, runs and gives the reference's numbers, called as the last module of the case is or
        in the given way."""
        self.lowered_by = ()
        built = self._builder.build(module, phase, self.bench, self.opt_level, self.enter)
        if isinstance(built, llvm.NotBuilt):
            return self._raised(built) if built.culprit != llvm.CODEGEN else _not_compiled(built)
        if isinstance(built, (Failed, Skipped)):
            return built
        meaning = self.bench.meaning
        self.enter(f"{llvm.BUILDING}{llvm.CODEGEN}")
        numbers = llvm.as_built(meaning.numbers)
        outcome = self.bench.guarded(lambda: self._builder.judge(built, numbers, calling or meaning.calling))
        if isinstance(outcome, Raised):
            return Failed("does not run", f"{outcome.kind}: {headline(outcome.message)}", outcome.message, llvm.CODEGEN)
        match outcome:
            case None:
                return Passed()
            case Unsure(reason, skipped):
                return Skipped(reason) if skipped else Inconclusive(reason)
            case Wrong(symptom, message, call, evidence):
                if meaning.lost and calling is None:
                    return Skipped(meaning.lost)
                what = evidence.detail if isinstance(evidence, InKernel) else message
                said, culprit = self._builder.same_bug.get(symptom, (what, None))
                return Failed(symptom, said, f"entry call {call}: {message}", culprit, evidence)
        raise AssertionError(outcome)

    def first_wrong(self, module: Any, phase: Phase) -> str | None:
        """Which pass of building the last module makes its numbers wrong; see `oracles.blame`."""
        meaning = self.bench.meaning
        names, numbers = lowering_of(module, phase, self.builder), llvm.as_built(meaning.numbers)
        return first_wrong(names, module, numbers, meaning.calling, self.bench, self.enter, meaning.synchronised)

    def _raised(self, built: llvm.NotBuilt) -> Verdict:
        """What the survives oracle says of a pass that raised on the way to the code generator."""
        call = default_call(built.culprit)
        step = Step(self.steps, call, self.rows[call.name], built.phase, built.before, None, built.error, 0, "B")
        self.lowered_by = built.lowered_by
        verdict = survives.judge(step, self.bench)
        return replace(verdict, culprit=built.culprit) if isinstance(verdict, Failed) else verdict


def _not_compiled(built: llvm.NotBuilt) -> Verdict:
    error = built.error
    if states_limit(error):
        return Skipped(f"rejected: {built.culprit}: {error.kind}")
    message = f"{error.kind}: {headline(error.message)}"
    return Failed("does not build", message, error.traceback or error.message, built.culprit)


def blamed(verdict: Failed, base: Verdict, last_changer: str, first: str | None, *, only_some: bool) -> Verdict:
    """A failed build with its culprit: what the verdict or `first`, the first wrong pass of the lowering, names.

    Where neither knows, it is the last pass of the case that changed something, unless `base`, the verdict on the
    module before the passes, is the same. only_some: the case's passes are all that is under test, and so it is one of
    them or nobody; what another pass of TVM's makes wrong of their right result is not their fault, nor is a build that
    fails in one way without them and in another way with them.
    """
    if only_some:
        if isinstance(base, Skipped | Failed):
            return Skipped("build: fails without the passes under test too")
        return replace(verdict, culprit=first if excuses(first) else last_changer)
    same = isinstance(base, Skipped) or (isinstance(base, Failed) and base.symptom == verdict.symptom)
    if verdict.culprit is None:
        return replace(verdict, culprit=first or (llvm.CODEGEN if same else last_changer))
    if same or verdict.symptom in ("crash", EMPTY_LAUNCH):
        return verdict  # what is wrong on well-formed input is wrong, whoever made the input
    return replace(verdict, culprit=last_changer)
