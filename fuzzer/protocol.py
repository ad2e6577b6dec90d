"""What processes tell each other: tagged records, one JSON object per line (`fuzzer.processes.lines`). No TVM here.

A worker process gets a Plan and then Commands on its standard input, and says Answers on its standard output.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from zlib import crc32

from msgspec import Struct

from generators.case import Tier
from generators.targets import DEFAULT
from oracles.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign's workers must know once: how cases are drawn and which oracles judge them.

    targets: a case is for one of them, see `at`. under_test: pass names, empty for all. oracles: names, empty for all.
    load: the user's file, or None.
    build_share: how often building and running is judged as well. scratch: where reduced cases are left.
    phase: where modules stand before any pass, a `generators.passes.row.Phase` by value; drawn ones are high-level.
    corpus: a folder of case folders whose modules a share of the cases starts from, or None.
    """

    seed: int
    targets: tuple[str, ...] = (DEFAULT,)
    under_test: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()
    load: str | None = None
    build_share: float = 0.15
    deadline_s: float = 20.0
    memory_bytes: int = 6 << 30
    scratch: str = ""
    phase: int = 0
    corpus: str | None = None

    @property
    def target(self) -> str:
        """The target of the cases, where there is one."""
        return self.targets[0]

    def at(self, index: int) -> Plan:
        """The plan for case `index`, with the one target of that case."""
        number = crc32(f"{self.seed}:{index}".encode()) % len(self.targets)
        return replace(self, targets=(self.targets[number],))


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
    step: int | None = None
    tail: tuple[str, ...] = ()
    """Passes of an official pipeline that were applied after those of the case, up to the culprit."""
    evidence: Evidence | None = None
    """What kind of wrong it is."""
    difference: str = ""
    """The functions before and after the pass as a unified diff, where numbers went wrong."""


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


@dataclass(slots=True)
class Counts:
    """Counters of one or more cases, in the shape of a `reports.tally` delta."""

    numbers: dict[str, float] = field(default_factory=dict)
    named: dict[str, dict[str, float]] = field(default_factory=dict)
    tables: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)

    def count(self, field_name: str, amount: float = 1) -> None:
        """Adds to a plain counter (cases, generated, invalid, seeded, numeric_verdicts, cpu_s)."""
        self.numbers[field_name] = self.numbers.get(field_name, 0) + amount

    def name(self, field_name: str, name: str, amount: float = 1) -> None:
        """Adds to a counter with names (skipped, inconclusive, ops, phases)."""
        names = self.named.setdefault(field_name, {})
        names[name] = names.get(name, 0) + amount

    def cell(self, table: str, name: str, column: str) -> None:
        """Adds one to a column of a table (passes, oracles)."""
        row = self.tables.setdefault(table, {}).setdefault(name, {})
        row[column] = row.get(column, 0) + 1

    def delta(self) -> dict[str, Any]:
        """The counts as a tally takes them."""
        return {**self.numbers, **self.named, **self.tables}


# --- commands -------------------------------------------------------------------------------------------


class JudgeCases(Struct, frozen=True, tag="judge cases"):
    """Draw and judge these cases, beginning none after `until` (seconds of `time.time`)."""

    indices: tuple[int, ...]
    until: float


class Reduce(Struct, frozen=True, tag="reduce"):
    """Reduce a failure in `budget_s` seconds; the answer carries `token`."""

    failure: Failure
    token: int
    budget_s: float


class TakeDigests(Struct, frozen=True, tag="take digests"):
    """Say the digests of drawn cases, or of the candidate in a file."""

    indices: tuple[int, ...] = ()
    file: str | None = None


class Begin(Struct, frozen=True, tag="begin"):
    """The first command of all: the plan of the campaign."""

    plan: Plan


Command: TypeAlias = JudgeCases | Reduce | TakeDigests | Begin


# --- answers --------------------------------------------------------------------------------------------


class Ready(Struct, frozen=True, tag="ready"):
    """TVM is imported, and the plan can be carried out."""

    tvm: str


class Refused(Struct, frozen=True, tag="refused"):
    """It cannot be carried out; one line that says why. usage: whether the user can mend it."""

    message: str
    usage: bool = True


class Tallied(Struct, frozen=True, tag="tallied"):
    """Counters, as `reports.tally` adds them."""

    delta: dict[str, Any]


class Found(Struct, frozen=True, tag="found"):
    """A failed verdict."""

    failure: Failure


class Sampled(Struct, frozen=True, tag="sampled"):
    """A case that another process is to be asked about."""

    sample: Sample


class Reduced(Struct, frozen=True, tag="reduced"):
    """The answer to Reduce: the file of the pickled Finding, None where the failure does not show again."""

    token: int
    file: str | None


class CaseDigests(Struct, frozen=True, tag="case digests"):
    """The digests of a drawn case, and the CPU seconds that they took."""

    index: int
    digests: tuple[str, ...]
    cpu_s: float


class CandidateDigests(Struct, frozen=True, tag="candidate digests"):
    """The digests of several copies of a candidate; none where it ends its process."""

    runs: tuple[tuple[str, ...], ...]


class Done(Struct, frozen=True, tag="done"):
    """A command has been carried out."""


class OwnFault(Struct, frozen=True, tag="own fault"):
    """An exception of ours, in one line."""

    what: str


Answer: TypeAlias = Ready | Refused | Tallied | Found | Sampled | Reduced | CaseDigests | CandidateDigests | Done
"""Of a worker."""
