"""What a one-shot process is asked, and what it answers (`fuzzer.processes.lines`). No TVM here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct

from fuzzer.protocol import Done, Ready, Refused
from fuzzer.results import CheckRow, ValueRow
from generators.case import Case

What: TypeAlias = Literal["check", "reduce"]


@dataclass(frozen=True, slots=True)
class Request:
    """What to do. passes: names given by the user, () for the case's own or else the default.

    explain: as given to `passfuzz check`; oracle, interesting, time_s: to `passfuzz reduce`. scratch: a folder that the
    process may write into. subject: the path of the case or module, as typed, for messages. trust: whether code of the
    user's own runs, which no walls are put around (`fuzzer.processes.sandbox`).
    """

    what: What
    case: Case
    passes: tuple[str, ...] = ()
    oracle: str | None = None
    interesting: str | None = None
    time_s: float = 60.0
    scratch: str = ""
    explain: bool = False
    subject: str = "the case"
    trust: bool = False


class Row(Struct, frozen=True, tag="row"):
    """What one oracle said."""

    row: CheckRow


class Culprit(Struct, frozen=True, tag="culprit"):
    """The culprit of the first failure."""

    name: str


class FaultLine(Struct, frozen=True, tag="fault line"):
    """A line on whose fault wrong numbers are."""

    line: str


class VariableValue(Struct, frozen=True, tag="value"):
    """What a variable holds."""

    row: ValueRow


class Reduction(Struct, frozen=True, tag="reduction"):
    """The smallest case: repro scripts, to be tried in turn, or the module; what the reduction did; the signature; what
    the script reads from `SCRIPT.json`, where TVMScript cannot say the module."""

    repros: tuple[str, ...]
    reduced: dict[str, float]
    finding: str | None
    module_json: str | None = None


Reply: TypeAlias = Ready | Row | Culprit | FaultLine | VariableValue | Reduction | Refused | Done
