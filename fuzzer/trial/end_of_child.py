"""What the end of a judging process says: a failure of what it did, or nothing about TVM. Worker processes only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from typing_extensions import assert_never

from fuzzer.protocol import Failure
from oracles.activities import Activity, Applying, Asking, Blaming, Building, Interpreting, SettingUp, Working
from oracles.checks import survives
from oracles.evidence import Died, Evidence, Hung, SpoiltProcess
from oracles.forked import Ended
from oracles.oracle import Runs
from oracles.table import ORACLES
from oracles.verdict import CRASH, HANG

SURVIVES = survives.ORACLE.name


@dataclass(frozen=True, slots=True)
class OurFault:
    """An exception of ours, or an exit where no pass was applied and nothing was built."""


@dataclass(frozen=True, slots=True)
class FromOutside:
    """The system, out of memory, or a person has killed it: says nothing about a pass. if_again: what it says where the
    same happens again; None where no pass is applied."""

    if_again: Failure | None = None


@dataclass(frozen=True, slots=True)
class ReferenceStuck:
    """It crashed or hung in the reference, where no code of TVM runs."""


End: TypeAlias = OurFault | FromOutside | ReferenceStuck | Failure


def judged_end(index: int, activity: Activity, ended: Ended, *, deadline_s: float, stderr: str = "") -> End:
    """Whose fault the end of a process is, by what was going on in it."""
    if ended.from_outside:
        found = _blamed(activity) if _applies(activity) else None
        return FromOutside(None if found is None else _failure(index, found, ended, deadline_s, stderr))
    if ended.raised or (ended.by_exit and not _applies(activity)):
        return OurFault()
    found = _blamed(activity)
    if found is None:
        return ReferenceStuck()
    return _failure(index, found, ended, deadline_s, stderr)


def _failure(index: int, found: tuple[str, str], ended: Ended, deadline_s: float, stderr: str) -> Failure:
    """found: the oracle and the culprit."""
    oracle, culprit = found
    message, evidence = _told(ended, culprit, deadline_s)
    return Failure(
        index,
        oracle,
        HANG if ended.hung else CRASH,
        message,
        stderr,
        culprit,
        "B",
        evidence=evidence,
    )


def _told(ended: Ended, culprit: str, deadline_s: float) -> tuple[str, Evidence]:
    """The message of the failure, and its evidence."""
    if ended.hung:
        return f"no answer within {deadline_s:g} s", Hung()
    if ended.spoilt:
        return f"leaves its process with {ended.what}", SpoiltProcess(ended.what)
    return f"{ended.how} in {culprit}", Died(ended.how)


def _applies(activity: Activity) -> bool:
    """Whether it applies a pass or builds."""
    match activity:
        case Applying() | SettingUp() | Blaming() | Building():
            return True
        case Asking(oracle):
            return ORACLES[oracle].runs is Runs.PASSES
        case Interpreting():
            return False
        case Working(_, name):
            return name is not None
        case _:
            assert_never(activity)


def _blamed(activity: Activity) -> tuple[str, str] | None:
    """The oracle that speaks of the end, and the culprit; None in the reference."""
    match activity:
        case Applying(name) | SettingUp(name) | Blaming(name):
            return SURVIVES, name
        case Asking(oracle, name):
            return None if ORACLES[oracle].runs is Runs.REFERENCE else (SURVIVES, name or oracle)
        case Building(oracle, culprit):
            return oracle, culprit
        case Interpreting():
            return None
        case Working(what, name):
            return SURVIVES, name or what
        case _:
            assert_never(activity)
