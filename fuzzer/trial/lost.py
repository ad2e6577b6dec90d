"""What the end of a judging process says: a failure of what it did, or nothing about TVM. Worker processes only."""

from __future__ import annotations

from typing_extensions import assert_never

from fuzzer.protocol import Failure
from oracles.activities import Activity, Applying, Asking, Blaming, Building, Interpreting, SettingUp, Working
from oracles.checks import survives
from oracles.evidence import Hung
from oracles.forked import Ended
from oracles.verdict import CRASH, HANG

SURVIVES = survives.ORACLE.name


def lost_failure(
    index: int, activity: Activity, ended: Ended, *, deadline_s: float, stderr: str = "", ours: frozenset[str]
) -> Failure | None:
    """The failure that the end of a process shows; None where no code of TVM ran in it.

    ours: the oracles in which only the reference runs.
    """
    found = _blamed(activity, ours)
    if found is None:
        return None
    oracle, culprit = found
    message = f"no answer within {deadline_s:g} s" if ended.hung else f"{ended.how} in {culprit}"
    return Failure(
        index,
        oracle,
        HANG if ended.hung else CRASH,
        message,
        stderr,
        culprit,
        "B",
        None,
        (),
        Hung() if ended.hung else None,
    )


def _blamed(activity: Activity, ours: frozenset[str]) -> tuple[str, str] | None:
    """The oracle that speaks of the end, and the culprit."""
    match activity:
        case Applying(name) | SettingUp(name) | Blaming(name):
            return SURVIVES, name
        case Asking(oracle, name):
            return None if oracle in ours else (SURVIVES, name or oracle)
        case Building(oracle, culprit):
            return oracle, culprit
        case Interpreting():
            return None
        case Working(what):
            return SURVIVES, what
        case _:
            assert_never(activity)
