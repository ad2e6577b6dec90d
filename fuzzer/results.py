"""What each command's function hands back to the command line. Plain data: what it means, not how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

import msgspec

from corpus.number_of import number_of
from fuzzer.errors import ExitStatus
from fuzzer.versions import Probe
from generators.case import Tier
from generators.json_values import JsonObject
from oracles.evidence import Died
from reports.causes import causes_of
from reports.finding_row import FindingRow
from reports.matrix import Column, Matrix, ReplayRow
from reports.tally import Tally

MAX_INVALID_SHARE = 0.01
"""Above this share of cases that are not well-formed before any pass, the generator is at fault."""
MAX_UNSHOWN_SHARE = 0.1
"""Above this share of cases that fail in a loaded pass, end their process or stop its worker, and no script that shows
it, that pass is at fault: it goes wrong after some calls, or harms what is around it."""

VerdictWord: TypeAlias = Literal["passed", "skipped", "inconclusive", "failed"]


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """A finished campaign. own_fault: one line when passfuzz itself failed, else None.

    unreduced: how many failures were seen that are neither findings nor known to be none; unreduced_known: those of
    them that look like known causes. notes: lines on what its
    reader must know. uncounted: why TVM's basic blocks were not counted though that was asked for, "" where they were.
    new_tiers: of the unreduced failures of the user's own passes, of which nothing is known. unshown: by such a pass,
    how often it raised or died in a way that has not shown again. loaded: the passes of the user's file.
    """

    tally: Tally
    findings: tuple[FindingRow, ...]
    wall_s: float
    interrupted: bool = False
    own_fault: str | None = None
    unreduced: int = 0
    unreduced_known: int = 0
    notes: tuple[str, ...] = ()
    uncounted: str = ""
    new_tiers: tuple[Tier, ...] = ()
    unshown: Mapping[str, int] = field(default_factory=dict)
    loaded: tuple[str, ...] = ()

    def fault(self) -> str | None:
        """One line when these results cannot be trusted: own_fault, too many invalid cases, no case at all, or too
        many lost to a loaded pass, without a finding that says so."""
        if self.own_fault is not None:
            return self.own_fault
        if self.tally.invalid_share > MAX_INVALID_SHARE:
            what = f"{self.tally.invalid} of {self.tally.generated} generated cases are invalid"
            if self.loaded:
                return f"{what}: the generator is wrong, or a loaded pass has spoilt the process ({self._some_loaded})"
            return f"{what}: the generator is wrong"
        return self._unshown() or self._nothing_judged()

    def _unshown(self) -> str | None:
        """Where a loaded pass is at fault of which no finding tells."""
        most = max(1.0, MAX_UNSHOWN_SHARE * self.tally.generated)
        told = {row.culprit for row in self.findings if not row.known}
        shown = sum(row.count for row in self.findings if isinstance(row.evidence, Died))
        died = self.tally.died - shown
        if self.loaded and not self.new_tiers and told.isdisjoint(self.loaded) and died > most:
            what = "a process ended before its time, or was stopped for good"
            return f"{self._often(died)} {what}, and no finding tells of it: {self._spoils(self._some_loaded)}"
        for name, number in self.unshown.items():
            if number > most and name not in told:
                return f"{self._often(number)} {name} failed, and no script shows it again: {self._spoils(name)}"
        return None

    def _often(self, number: int) -> str:
        return f"{number_of(number, 'time')} in {number_of(self.tally.generated, 'case')}"

    @staticmethod
    def _spoils(names: str) -> str:
        return f"a loaded pass ends or spoils its process, or remembers earlier calls ({names})"

    def _nothing_judged(self) -> str | None:
        if self.tally.cases == 0 and not self.interrupted:
            reason = max(self.tally.skipped, key=self.tally.skipped.__getitem__, default=None)
            return "not one case was judged" if reason is None else f"not one case was judged: {reason}"
        return None

    @property
    def _some_loaded(self) -> str:
        return ", ".join(self.loaded[:3]) + (", ..." if len(self.loaded) > 3 else "")

    def status(self, fail_on: tuple[str, ...]) -> ExitStatus:
        """An own fault first, because its findings cannot be trusted; then an end before anything was judged; then new
        causes of the tiers that fail, and failures of the user's own passes that there was no time to reduce."""
        if self.fault() is not None:
            return ExitStatus.OWN_FAULT
        if self.interrupted and self.tally.cases == 0:
            return ExitStatus.INTERRUPTED
        unreduced = any(tier in fail_on for tier in self.new_tiers)
        if unreduced or any(cause.is_failure(fail_on) for cause in causes_of(self.findings)):
            return ExitStatus.NEW_FINDING
        return ExitStatus.CLEAN


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What one oracle said. pass_name: of the step it looked at.

    applies: False where there was nothing to judge, as the oracle is about something else.
    difference: the functions before and after the step as a unified diff, where numbers went wrong.
    """

    oracle: str
    pass_name: str | None
    verdict: VerdictWord
    symptom: str = ""
    message: str = ""
    difference: str = ""
    applies: bool = True

    def is_of(self, oracle: str, symptom: str) -> bool:
        """Whether this is what the oracle says where it finds the symptom."""
        return (self.oracle, self.symptom) == (oracle, symptom)


class _Checked(msgspec.Struct, frozen=True):
    """What `passfuzz check --json` says, as far as it is asked here."""

    rows: tuple[CheckRow, ...]


def rows_of(said: bytes) -> tuple[CheckRow, ...] | None:
    """The verdicts in what `passfuzz check --json` has printed; None where there are none."""
    try:
        return msgspec.json.decode(said, type=_Checked).rows
    except (msgspec.DecodeError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class ValueRow:
    """The value that a variable got in the first entry call: its type and first elements. after: the pass after which
    the module was run, "" for the module as given."""

    after: str
    function: str
    variable: str
    type: str
    elements: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`passfuzz check`: every verdict, the culprit when one failed, and the values where they were asked for.

    fault: whose fault wrong numbers are, in lines for a reader. notes: where the passes stand in an order that TVM
    documents otherwise, in lines for a reader.
    """

    rows: tuple[CheckRow, ...]
    culprit: str | None = None
    values: tuple[ValueRow, ...] = ()
    fault: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any oracle found something wrong."""
        return any(row.verdict == "failed" for row in self.rows)

    def status(self) -> ExitStatus:
        return ExitStatus.NEW_FINDING if self.failed else ExitStatus.CLEAN

    def to_json(self) -> JsonObject:
        return {"failed": self.failed, **asdict(self)}


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of the search: candidates tried, edits accepted, and seconds with all that it made and tried. fault: an
    error of ours in it."""

    step: str
    tried: int
    accepted: int
    seconds: float
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ReduceResult:
    """`passfuzz reduce`: the repro's text and what the reduction did.

    reduced: as in a FindingRow. finding: the signature that was kept, None with `--interesting`. module_json: what the
    script reads from the file `json_beside` it, where TVMScript cannot say the module. kept: the failure, in a line.
    others: failures that were met on the way, in a line each. finished: nothing was left to try. notes: lines on what
    the user must know. steps: what each step of the search has cost and given. known: the title of the known cause, ""
    for a new one.
    """

    repro: str
    reduced: dict[str, float]
    finding: str | None = None
    module_json: str | None = None
    kept: str = ""
    others: tuple[str, ...] = ()
    finished: bool = True
    notes: tuple[str, ...] = ()
    steps: tuple[StepRow, ...] = ()
    known: str = ""

    def to_json(self) -> JsonObject:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NothingToReduce:
    """`passfuzz reduce` of what does not fail. tried: what was looked at, in lines for a reader."""

    tried: tuple[str, ...]

    def to_json(self) -> JsonObject:
        return {"nothing_to_reduce": True, "tried": self.tried}


@dataclass(frozen=True, slots=True)
class GoneCause:
    """A known cause of which every case passes on a TVM, and one of them did not before."""

    tvm: str
    cause: str
    title: str


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """`passfuzz replay`: one row per case and TVM, and a column per TVM."""

    rows: tuple[ReplayRow, ...]
    columns: tuple[Column, ...] = ()
    seconds: float = 0.0

    @property
    def matrix(self) -> Matrix:
        """The same for reports."""
        return Matrix(self.columns, self.rows, self.seconds)

    def status(self) -> ExitStatus:
        """A case that behaves worse than its record says is a regression; a case that could not run, or a TVM that
        could not be had, is a fault of the environment or ours."""
        outcomes = {row.outcome for row in self.rows}
        if "regressed" in outcomes:
            return ExitStatus.REPLAY_REGRESSION
        lacking = "error" in outcomes or any(column.fault for column in self.columns)
        return ExitStatus.OWN_FAULT if lacking else ExitStatus.CLEAN

    def gone(self) -> tuple[GoneCause, ...]:
        """What each TVM has mended. A case whose cause is not known counts as one of its own."""
        found: dict[tuple[str, str], list[ReplayRow]] = {}
        for row in self.rows:
            found.setdefault((row.tvm, row.cause or f"case {row.case}"), []).append(row)
        return tuple(
            GoneCause(tvm, rows[0].cause, rows[0].title or rows[0].case)
            for (tvm, _), rows in found.items()
            if {row.outcome for row in rows} in ({"fixed"}, {"fixed", "passes"})
        )

    def to_json(self) -> JsonObject:
        return {**asdict(self), "summary": self.matrix.summary(), "gone": [asdict(gone) for gone in self.gone()]}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was looked at."""

    probes: tuple[Probe, ...]

    @property
    def fault(self) -> str | None:
        """One line that says what makes fuzzing impossible and how to mend it, else None."""
        broken = next((probe for probe in self.probes if probe.state == "broken"), None)
        return None if broken is None else f"{broken.name}: {broken.detail}; {broken.mend}"

    def to_json(self) -> JsonObject:
        return {"fault": self.fault, "probes": [asdict(probe) for probe in self.probes]}


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: its name, its columns, and one tuple of plain values per row."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def to_json(self) -> JsonObject:
        return {self.name: [dict(zip(self.columns, row, strict=True)) for row in self.rows]}
