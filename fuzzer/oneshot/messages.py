"""What a one-shot process is asked, and what it answers (`fuzzer.processes.lines`). No TVM here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct

from corpus.rate import ReproRate
from fuzzer.own_numbers import DRAWN, OwnNumbers
from fuzzer.protocol import Done, Ready, Refused, Warned
from fuzzer.results import CheckRow, StepRow, ValueRow
from generators.case import Case
from oracles.evidence import Evidence

What: TypeAlias = Literal["check", "reduce"]


@dataclass(frozen=True, slots=True)
class Keep:
    """What a reduction keeps, where no predicate of the user's says it; `rejections` also what a check calls failed.

    oracle: the name of an oracle or of a group of them. message: a regular expression that the message of the failure
    matches. rejections: what a pass refuses on purpose may be kept. builds: failures of builds may be, too. flaky: how
    often a candidate is judged that does not fail at once.
    """

    oracle: str | None = None
    message: str | None = None
    rejections: bool = False
    builds: bool = False
    flaky: int = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """The failure that a stored case is of."""

    oracle: str
    symptom: str
    culprit: str
    message: str
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class Predicate:
    """What the user's own predicate is. command: the words of a command; or file and function: of a Python function.

    typed: as the user wrote it. text: the text of the user's file, where there is one, whose style candidates keep.
    """

    typed: str
    command: tuple[str, ...] = ()
    file: str = ""
    function: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to do. passes: names given by the user, () for the case's own or else the default.

    explain: as given to `passfuzz check`, which asks `keep.rejections` too; keep, predicate, time_s: to `passfuzz
    reduce`. recorded: what the case is known to fail by. scratch: a folder that the process may write into; a file
    STOP in it ends a reduction with the smallest so far. subject: the path of the case or module, as typed, for
    messages. trust: whether code of the user's own runs, which no walls are put around (`fuzzer.processes.sandbox`).
    own: numbers of the user's. jobs: so many candidates of a reduction are judged at the same time.
    """

    what: What
    case: Case
    passes: tuple[str, ...] = ()
    keep: Keep = Keep()
    predicate: Predicate | None = None
    recorded: Recorded | None = None
    time_s: float = 60.0
    scratch: str = ""
    explain: bool = False
    subject: str = "the case"
    trust: bool = False
    own: OwnNumbers = DRAWN
    jobs: int = 1


STOP = "stop"
"""The name of a file in the scratch folder."""


class OracleAnswer(Struct, frozen=True, tag="row"):
    """What one oracle said."""

    row: CheckRow


class Culprit(Struct, frozen=True, tag="culprit"):
    """The culprit of the first failure."""

    name: str


class FaultLine(Struct, frozen=True, tag="fault line"):
    """A line on whose fault wrong numbers are."""

    line: str


class Note(Struct, frozen=True, tag="note"):
    """A line on the order of the passes that TVM documents otherwise, or on how numbers are compared."""

    line: str


class VariableValue(Struct, frozen=True, tag="value"):
    """What a variable holds."""

    row: ValueRow


class Kept(Struct, frozen=True, tag="kept"):
    """The failure that is kept, in bindings, statements and passes, and the others that the module has, in a line
    each."""

    line: str
    bindings: int
    statements: int
    passes: int
    others: tuple[str, ...] = ()

    @property
    def before(self) -> dict[str, float]:
        """The sizes as `Reduction.reduced` has them."""
        return {
            "bindings_before": self.bindings,
            "statements_before": self.statements,
            "passes_before": self.passes,
        }


class NothingFails(Struct, frozen=True, tag="nothing fails"):
    """There is nothing to reduce: what was tried, in lines for a reader."""

    tried: tuple[str, ...]


class Printed(Struct, frozen=True, tag="printed"):
    """What the user's predicate has printed of the first candidate, which it refuses, and that candidate's text; "" for
    the user's own file."""

    text: str
    candidate: str


class Better(Struct, frozen=True, tag="better"):
    """The smallest so far, in bindings, statements and passes. calls: how many candidates were judged until then.

    repro, module_json: as in Reduction. folder: the files from which a reduction goes on.
    """

    bindings: int
    statements: int
    passes: int
    calls: int
    seconds: float
    repro: str
    module_json: str | None = None
    folder: dict[str, bytes] = {}


class ByReference(Struct, frozen=True):
    """The smallest case as one that `passfuzz check` shows, where TVM does not build or run what comes of it: the files
    of its folder, and the oracle and the symptom that it is to find there."""

    folder: dict[str, bytes]
    oracle: str
    symptom: str


class Reduction(Struct, frozen=True, tag="reduction"):
    """The smallest case: repro scripts, to be tried in turn, or the module; what the reduction did; the signature; what
    the script reads from `SCRIPT.json`, where TVMScript cannot say the module.

    folders: for each repro the files of a case folder that has it. finished: nothing was left to try. others: other
    failures that were met, in a line each. steps: what each step of the search has cost and given. shows: how often the
    failure showed in so many tries of the case as it was given, where it did not show each time. kept: the failure, in
    a line. known: the title of its known cause, "" for a new one. stopped: the user has ended it. whole: bodies were
    left as they are, since the module does not fail once it is built anew. by_reference: where the reference can show
    what no script does. no_numbers: why no oracle that needs numbers was asked, "" where they were.
    """

    repros: tuple[str, ...]
    reduced: dict[str, float]
    finding: str | None
    module_json: str | None = None
    folders: tuple[dict[str, bytes], ...] = ()
    finished: bool = True
    others: tuple[str, ...] = ()
    steps: tuple[StepRow, ...] = ()
    shows: ReproRate | None = None
    kept: str = ""
    known: str = ""
    stopped: bool = False
    whole: bool = False
    by_reference: ByReference | None = None
    no_numbers: str = ""


Reply: TypeAlias = (
    Ready
    | OracleAnswer
    | Culprit
    | FaultLine
    | Note
    | VariableValue
    | Kept
    | NothingFails
    | Printed
    | Warned
    | Better
    | Reduction
    | Refused
    | Done
)
