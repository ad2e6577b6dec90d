"""What a row of the oracle table says. Each oracle of `oracles/checks` is one file with one row;
`oracles.table` collects them and adds those that build.

A row holds every fact about its oracle: who asks it, how often, what its failure means for the case, and what it needs.
No other list of oracles exists. Code that means one oracle names it, such as survival for a pass whose
process ended.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import TypeAlias

from generators.case import Tier
from generators.passes.row import Phase
from generators.tvm_api import IRModule
from oracles.builds.cpu_builds import CpuBuild
from oracles.trace import Bench, CaseBench, Raised, Step, Trace
from oracles.verdict import Failed, Verdict


class Stage(Enum):
    """The stage of judging at which an oracle is asked."""

    SURVIVAL = auto()
    """Did the pass end, or explain why it does not?"""
    INPUT = auto()
    """Is the module that the pass was given what it was?"""
    STRUCTURE = auto()
    """Is the result a module? These oracles see one broken module from several sides: the first that fails speaks for
    the others."""
    RESULT = auto()
    """Does the result keep and contain what the pass says?"""
    NUMBERS = auto()
    """Does the result compute the same?"""
    COSTLY = auto()
    """What does another application of the pass give, or reading the text of its result? Asked of a share of the
    steps."""
    CASE = auto()
    """The whole case, after its last pass."""
    BUILD = auto()
    """The last module of the case, compiled and run."""


class Runs(Enum):
    """What runs while an oracle is asked: who is to blame where the process ends in it."""

    REFERENCE = auto()
    """Our interpreter: a process that ends in it puts no pass to blame."""
    TVM = auto()
    """Functions of TVM that look at a module. They raise or crash, but do not call exit."""
    PASSES = auto()
    """Passes, or TVM's parser on a text: code under test, which may do anything."""


_ENDS_CASE = frozenset({Stage.SURVIVAL, Stage.STRUCTURE, Stage.NUMBERS})


@dataclass(frozen=True, slots=True)
class Across:
    """Of which cases another process is asked as well (`fuzzer.trial.determinism`): of a share, and of a larger one of
    the first cases of a campaign, so that short campaigns have some."""

    share: float
    early: int
    early_share: float

    def takes(self, seed: int, index: int) -> bool:
        """Whether another process is asked of a case: a pure function of both."""
        share = self.early_share if index < self.early else self.share
        return random.Random(f"passfuzz/again/{seed}/{index}").random() < share


class Knowledge(IntEnum):
    """How much is known of a pass that a foreign test applies. The more is known, the more oracles judge it."""

    NOTHING = 0
    """The pass is in no row."""
    NAME = 1
    """The pass is of a row, with arguments that are not known."""
    ROW = 2
    """A constructor of the pass's row gives the same module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What every row says besides its name, its promise and how it judges.

    rank: oracles are asked in this order: cheap ones first, and the check that says
    what is wrong with a result before the one that says that something is.
    runs: what runs while it is asked. Oracles of whole cases and builds run passes, unless their row says otherwise.
    share: of the steps, or of the cases, that are judged. share_of_chosen: the share where only some passes are under
    test, None for the same.
    of_result: it looks at the result alone, so that a result that is the input again has been judged already.
    needs_numbers: it needs the reference's numbers. judges_numbers: its word on a case is a verdict on its numbers.
    foreign: the least that must be known of a pass of other people's tests for it to hold; None where it is not asked
    of them.
    documented_phases_only: TVM keeps to it in the documented phases of a pass alone; in an odd order it fails without
    a bug.
    of_idempotent: of other people's tests it is asked only where a second application of the pass must change nothing.
    until: the last phase of the starting modules that it judges; None for any.
    across: of which cases another process is asked as well; None for no case.
    builders: the builders of `generators.targets` where it has something to run; None where it needs no builder.
    """

    stage: Stage
    rank: int = 100
    runs: Runs = Runs.TVM
    share: float = 1.0
    share_of_chosen: float | None = None
    of_result: bool = False
    needs_numbers: bool = False
    judges_numbers: bool = False
    foreign: Knowledge | None = None
    documented_phases_only: bool = False
    of_idempotent: bool = False
    until: Phase | None = None
    across: Across | None = None
    builders: frozenset[str] | None = None

    @property
    def ends_case(self) -> bool:
        """Whether a case goes no further after a failure: what follows would be a consequence."""
        return self.stage in _ENDS_CASE

    @property
    def of_structure(self) -> bool:
        """Whether a failure of an oracle before it says what its own would say."""
        return self.stage is Stage.STRUCTURE

    def tier_of(self, tier: Tier) -> Tier:
        """The tier of a failure at a pass of this tier. Within an official pipeline a pass is given a module that is
        the pipeline's own, so that changing it is B, until the pipeline is seen to change the user's."""
        return max(tier, "B") if self.stage is Stage.INPUT else tier

    def holds_at(self, known: Knowledge) -> bool:
        """Whether it judges passes of other people's tests of which this much is known."""
        return self.foreign is not None and known >= self.foreign

    def judges_from(self, phase: Phase) -> bool:
        """Whether it judges cases that start at this phase."""
        return self.until is None or phase <= self.until

    def has_work_at(self, builder: str | None) -> bool:
        """Whether it has anything to run where `builder` builds the modules, None for no builder."""
        return self.builders is None or builder in self.builders


def _fits(step: Step) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class StepOracle(Facts):
    """Judges one step.

    on_error: whether steps that raised are judged too. judge_given: judges a module before any pass, instead of the
    steps, where a user names no passes; None where it has nothing to say of one. is_flawed: whether a module that a
    pass is given is wrong already, which is not its fault; every oracle of structure has it. unfit: says how the result
    of a step, though right, is no input for passes that a user chose to come next; None where it is one. rejection:
    what is said of a pass that refuses a module, where refusals are what a user wants to see kept; None where nothing
    is.
    """

    name: str
    promise: str
    judge: Callable[[Step, Bench], Verdict]
    on_error: bool = False
    judge_given: Callable[[IRModule], Verdict] | None = None
    is_flawed: Callable[[IRModule], bool] | None = None
    unfit: Callable[[Step], str | None] = _fits
    rejection: Callable[[Raised], Failed] | None = None


@dataclass(frozen=True, slots=True)
class TraceOracle(Facts):
    """Judges a whole case after its last step.

    of_passes: False where it judges the starting module alone, before any pass under test.
    """

    name: str
    promise: str
    judge: Callable[[Trace, CaseBench], Verdict]
    of_passes: bool = True
    stage: Stage = field(default=Stage.CASE, kw_only=True)
    runs: Runs = field(default=Runs.PASSES, kw_only=True)


@dataclass(frozen=True, slots=True)
class BuildOracle(Facts):
    """Judges a build of the last module of a case, of which `fuzzer.trial.build` knows what is left of the pipeline.

    how: a row of `oracles.builds.cpu_builds`; None for the ordinary build. `share` is of the cases that are built.
    """

    name: str
    promise: str
    how: CpuBuild | None = None
    stage: Stage = field(default=Stage.BUILD, kw_only=True)
    runs: Runs = field(default=Runs.PASSES, kw_only=True)
    needs_numbers: bool = field(default=True, kw_only=True)
    rank: int = field(default=200, kw_only=True)


Oracle: TypeAlias = StepOracle | TraceOracle | BuildOracle
