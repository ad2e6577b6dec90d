"""What a judging process is doing: announced before it is done, so that what ended the process can be named.

An activity goes through the flight recorder and is matched as a value (`fuzzer.trial.end_of_child`). No TVM is imported
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import Struct
from typing_extensions import assert_never


class Working(Struct, frozen=True, tag="working"):
    """Our own work, in a few words: "draw", "reduce", "well-formedness". pass_name: the pass that it applies."""

    what: str
    pass_name: str | None = None


class Interpreting(Struct, frozen=True, tag="interpreting"):
    """The reference runs a module, outside of an oracle. No code of TVM is executed."""


class SettingUp(Struct, frozen=True, tag="setting up"):
    """A pass of the setup runs."""

    pass_name: str


class Applying(Struct, frozen=True, tag="applying"):
    """A pass of the case runs."""

    pass_name: str


class Asking(Struct, frozen=True, tag="asking"):
    """An oracle judges the step of a pass, or the whole case (None)."""

    oracle: str
    pass_name: str | None = None


class Building(Struct, frozen=True, tag="building"):
    """A build: `culprit` is the pass that runs on the way to the code generator, or "codegen" from there on."""

    oracle: str
    culprit: str


class Blaming(Struct, frozen=True, tag="blaming"):
    """A wrong build is taken apart: a pass of its lowering runs."""

    pass_name: str


Activity: TypeAlias = Working | Interpreting | SettingUp | Applying | Asking | Building | Blaming
Announce: TypeAlias = Callable[[Activity], None]
"""Called with an activity before it begins, for instance to write it into the flight recorder."""


def unannounced(activity: Activity) -> None:
    """For callers that are not watched."""


@contextmanager
def entering(announce: Announce, activity: Activity) -> Iterator[None]:
    """Announces the activity, then does it."""
    announce(activity)
    yield


def kind_of(activity: Activity) -> str:
    """What is being done, without the pass that it is done to: a counter's key."""
    match activity:
        case Working(what):
            return what
        case Interpreting():
            return "reference"
        case SettingUp() | Applying():
            return "passes"
        case Asking(oracle) | Building(oracle):
            return oracle
        case Blaming():
            return "blame"
        case _:
            assert_never(activity)


def described(activity: Activity) -> str:
    """An activity for a person."""
    match activity:
        case Working() | Interpreting():
            return kind_of(activity)
        case SettingUp(name):
            return f"setup {name}"
        case Applying(name):
            return name
        case Asking(oracle, None):
            return oracle
        case Asking(oracle, name):
            return f"{oracle} of {name}"
        case Building(oracle, culprit):
            return f"{oracle}: {culprit}"
        case Blaming(name):
            return f"blame: {name}"
        case _:
            assert_never(activity)
