"""What processes tell each other: tagged records, one JSON object per line (`fuzzer.processes.lines`). No TVM here.

A worker process gets a Plan and then Commands on its standard input, and says Answers on its standard output.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TypeAlias
from zlib import crc32

from msgspec import Struct

from fuzzer.coverage.probes import Probes
from generators.case import Tier
from generators.passes.sequence_kinds import Kind
from generators.source import Choices
from generators.targets import DEFAULT
from oracles.evidence import Evidence
from oracles.tolerance import Tolerance
from oracles.verdict import Failed
from reports.tally import Tally


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign's workers must know once: how cases are drawn and which oracles judge them.

    targets: a case is for one of them, see `at`. under_test: pass names, empty for all. oracles: names, empty for all.
    often: whether these oracles are asked more often than where all are.
    load: the user's file, or None.
    build_share: how often building and running is judged as well. scratch: where reduced cases are left.
    phase: where modules stand before any pass, a `generators.passes.row.Phase` by value; drawn ones are high-level.
    corpus: a folder of case folders whose modules a share of the cases starts from, or None. trust: whether what they
    say may run as Python, without walls around the workers. tolerance: a user's own, for numbers. probes: with which
    workers count TVM's basic blocks, or None.
    """

    seed: int
    targets: tuple[str, ...] = (DEFAULT,)
    under_test: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    oracles: tuple[str, ...] = ()
    often: bool = False
    load: str | None = None
    build_share: float = 0.15
    deadline_s: float = 20.0
    memory_bytes: int = 6 << 30
    scratch: str = ""
    phase: int = 0
    corpus: str | None = None
    trust: bool = False
    tolerance: Tolerance | None = None
    probes: Probes | None = None

    @property
    def target(self) -> str:
        """The target of the cases, where there is one."""
        return self.targets[0]

    @property
    def walled(self) -> bool:
        """Whether workers read data of another user: they reach no network then, and write into their scratch only.
        The file of --load is the user's own, and may do what it likes."""
        return self.corpus is not None and not self.trust and self.load is None

    def at(self, index: int) -> Plan:
        """The plan for case `index`, with the one target of that case."""
        number = crc32(f"{self.seed}:{index}".encode()) % len(self.targets)
        return replace(self, targets=(self.targets[number],))


LONGEST_DETAIL = 20_000
"""Characters of a verdict's detail that are kept: its end."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed verdict of one case. step: position among the passes (None: the case as a whole)."""

    index: int
    oracle: str
    symptom: str
    message: str
    detail: str
    culprit: str
    tier: Tier
    _: KW_ONLY
    step: int | None = None
    tail: tuple[str, ...] = ()
    """Passes of an official pipeline that were applied after those of the case, up to the culprit."""
    evidence: Evidence | None = None
    """What kind of wrong it is."""
    difference: str = ""
    """The functions before and after the pass as a unified diff, where numbers went wrong."""

    @classmethod
    def of(
        cls,
        index: int,
        oracle: str,
        verdict: Failed,
        culprit: str,
        tier: Tier,
        *,
        step: int | None = None,
        tail: tuple[str, ...] = (),
    ) -> Failure:
        """The failed verdict of an oracle; of its detail, the end is kept."""
        return cls(
            index,
            oracle,
            verdict.symptom,
            verdict.message,
            verdict.detail[-LONGEST_DETAIL:],
            culprit,
            tier,
            step=step,
            tail=tail,
            evidence=verdict.evidence,
            difference=verdict.difference,
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """What a worker has seen of a case that another process is asked about (`fuzzer.trial.determinism`).

    digests: of the module as drawn, after the setup, and after each pass. counts: for each pass, whether its failures
    count (False where it is not under test).
    """

    index: int
    digests: tuple[str, ...]
    passes: tuple[str, ...]
    tiers: tuple[Tier, ...]
    counts: tuple[bool, ...]


# --- commands -------------------------------------------------------------------------------------------


class JudgeCases(Struct, frozen=True, tag="judge cases"):
    """Draw and judge these cases in this order, beginning none but the first after `seconds`."""

    indices: tuple[int, ...]
    seconds: float


class Reduce(Struct, frozen=True, tag="reduce"):
    """Reduce a failure in `budget_s` seconds of CPU, and at most `ceiling_s` of the clock; the answer carries
    `token`."""

    failure: Failure
    token: int
    budget_s: float
    ceiling_s: float = 60.0


class Confirm(Struct, frozen=True, tag="confirm"):
    """Show a finding in a fresh process; the answer carries `token`. finding: as `corpus.finding_bytes` writes it."""

    finding: bytes
    token: int


class TakeDigests(Struct, frozen=True, tag="take digests"):
    """Say the digests of drawn cases, or of the candidate in a file."""

    indices: tuple[int, ...] = ()
    file: str | None = None


class TryDraws(Struct, frozen=True, tag="try draws"):
    """Find draws on which passes under test fire that rarely do: among `most`, and among as many as `more` after these
    until each of the passes has fired, beginning none after `seconds`."""

    most: int
    seconds: float
    more: int = 0


class Resemble(Struct, frozen=True, tag="resemble"):
    """From now on, a share of the cases resembles draws that were found: `TriedDraws.kin`."""

    kin: dict[str, tuple[Choices, ...]]


class Begin(Struct, frozen=True, tag="begin"):
    """The first command of all: the plan of the campaign."""

    plan: Plan


Command: TypeAlias = JudgeCases | Reduce | Confirm | TakeDigests | TryDraws | Resemble | Begin


# --- answers --------------------------------------------------------------------------------------------


class Ready(Struct, frozen=True, tag="ready"):
    """TVM is imported, and the plan can be carried out. The versions that decide what a case is.

    uncounted: why it does not count TVM's basic blocks though its plan has probes; "" where it does. loaded: the passes
    of the file of --load. tries: whether draws are to be tried before the first case.
    """

    tvm: str
    ffi: str = ""
    passfuzz: str = ""
    uncounted: str = ""
    loaded: tuple[str, ...] = ()
    tries: bool = False


class Refused(Struct, frozen=True, tag="refused"):
    """It cannot be carried out; one line that says why. usage: whether the user can mend it."""

    message: str
    usage: bool = True


class Warned(Struct, frozen=True, tag="warned"):
    """A line that the user must see, of what may be wrong with what was asked. Nothing is refused for it."""

    line: str


class Tallied(Struct, frozen=True, tag="tallied"):
    """Counters beside those of a case."""

    counts: Tally


class Found(Struct, frozen=True, tag="found"):
    """A failed verdict."""

    failure: Failure


class Judged(Struct, frozen=True, tag="judged"):
    """All about one case, in one message: who hears it has heard everything, and who does not has heard nothing.

    sample: where another process is to be asked about the case. own_fault: the traceback of an exception of ours.
    """

    index: int
    counts: Tally
    failures: tuple[Failure, ...] = ()
    sample: Sample | None = None
    own_fault: str = ""


class Killed(Struct, frozen=True, tag="killed"):
    """The child that judged a case was killed from outside: nothing is known of the case. if_again: the failure that it
    is where the same happens again."""

    index: int
    if_again: Failure | None = None


class Reduced(Struct, frozen=True, tag="reduced"):
    """The answer to Reduce: the Finding in bytes; None where the failure does not show again, does not count, or where
    the child ended early. ended: how that was. said: what it has printed, where our code raised. no_finding: why it
    does not count."""

    token: int
    finding: bytes | None
    ended: str = ""
    said: str = ""
    no_finding: str = ""


class Confirmed(Struct, frozen=True, tag="confirmed"):
    """The answer to Confirm: the Finding in bytes as it was tried last, and whether it was shown. ended: how the
    process ended that was to show it, where it was killed from outside or took too long, so that nothing is known."""

    token: int
    finding: bytes
    shown: bool
    ended: str = ""


def how_it_ended(answer: Reduced | Confirmed) -> str:
    """Why an answer is of no use."""
    return f"ended by {answer.ended}" if answer.ended else "answered with what is no finding"


class CaseDigests(Struct, frozen=True, tag="case digests"):
    """The digests of a drawn case, and the CPU seconds that they took."""

    index: int
    digests: tuple[str, ...]
    cpu_s: float


class CandidateDigests(Struct, frozen=True, tag="candidate digests"):
    """The digests of several copies of a candidate; none where it ends its process."""

    runs: tuple[tuple[str, ...], ...]


class TriedDraws(Struct, frozen=True, tag="tried"):
    """The answer to TryDraws. kin: by target, the choices of draws that are worth resembling. tried: how many draws
    were tried, of how many."""

    kin: dict[str, tuple[Choices, ...]]
    tried: int
    of: int


class Done(Struct, frozen=True, tag="done"):
    """A command has been carried out."""


class OwnFault(Struct, frozen=True, tag="own fault"):
    """An exception of ours, in one line."""

    what: str


Answer: TypeAlias = (
    Ready
    | Refused
    | Warned
    | Judged
    | Killed
    | Reduced
    | Confirmed
    | CaseDigests
    | CandidateDigests
    | TriedDraws
    | Done
)
"""Of a worker."""
