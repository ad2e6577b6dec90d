"""What the end of a repro script says: the bug is gone, it fails, it cannot run on this TVM, or it is broken. No TVM.

A script ends with 1 where it shows its bug, 0 where the bug is gone, 2 where this TVM cannot run it (`corpus.answers`).
That is not the whole answer. A script whose helper calls what this TVM does not have may end with 1, and a pass that
raises before the check begins ends it with 2. So the traceback decides whose fault an exception is: the script's where
its own line raises it or its module cannot be made, TVM's where a pass, a build or the virtual machine does.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from typing_extensions import assert_never

from corpus.answers import CANNOT_RUN, FAILS, LONGEST, PASSES, ChildEnd, ChildExited, ChildKilled, child_end, last_line
from fuzzer.replaying.script import ScriptParts, parts_of
from oracles.tvm_frames import Frame, frames

KILLED = 128
"""And the number of a signal: of what a signal has ended."""
OUT_OF_TIME = (signal.SIGALRM, signal.SIGPROF)
"""How a script ends itself: its seconds of the clock are up, or those of the CPU."""

FailureKind: TypeAlias = Literal["check", "exception", "signal", "exit", "hang"]
"""How a failure shows: the script's own check, an exception of TVM, a signal, an exit of TVM's own, no end."""


@dataclass(frozen=True, slots=True)
class ScriptEnd:
    """How a script ended and what it said. file: as tracebacks name it; text: as it was run."""

    status: int
    stdout: str
    stderr: str
    file: str = ""
    text: str = ""
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Gone:
    """The script ran to its end and has found nothing wrong."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Fails:
    """TVM does something wrong. error: the exception as "Type: text"; trace: its traceback. of_form: the check is of
    dtypes, shapes or the number of results. out_of_time: it was ended, and has no limit of its own that it could have
    told of."""

    kind: FailureKind
    message: str
    error: str = ""
    trace: str = ""
    of_form: bool = False
    out_of_time: bool = False


@dataclass(frozen=True, slots=True)
class Unportable:
    """The script asks this TVM for what it does not have."""

    message: str


@dataclass(frozen=True, slots=True)
class BrokenScript:
    """The script did not come far enough to judge, and no repro ends so."""

    message: str


@dataclass(frozen=True, slots=True)
class WrongByReference:
    """No script has shown it, and the reference says that something is wrong. known: what the case records."""

    message: str
    known: bool


Ending: TypeAlias = Gone | Fails | WrongByReference | Unportable | BrokenScript


def ending_of(end: ScriptEnd) -> Ending:
    """What the end of a script says."""
    said = last_line(end.stdout)
    if end.timed_out:
        return Fails("hang", "no answer in time", out_of_time=True)
    if end.status == PASSES:
        return Gone(said)
    if end.status > KILLED:
        return _killed(end, end.status - KILLED)
    if end.status not in (FAILS, CANNOT_RUN) or (not said and end.stderr.strip()):
        return BrokenScript(last_line(end.stderr) or f"the script ends with {end.status}, and says nothing")
    if (of_child := child_end(said)) is not None:
        if of_child.from_outside:
            return BrokenScript(_killed_by(signal.SIGKILL))
        return Fails(_kind_of(of_child), said, trace=end.stderr)
    thrown = Thrown.of(end)
    if thrown is None:
        return Fails("check", said) if end.status == FAILS else Unportable(said)
    return _of_exception(end, thrown, said)


def _kind_of(end: ChildEnd) -> FailureKind:
    match end:
        case ChildKilled(number):
            return "hang" if number in OUT_OF_TIME else "signal"
        case ChildExited():
            return "exit"
        case _:
            assert_never(end)


def _killed(end: ScriptEnd, number: int) -> Ending:
    """A signal has ended the script itself, not a child of it."""
    message = _killed_by(number)
    if ChildKilled(number).from_outside:
        return BrokenScript(message)
    if number in OUT_OF_TIME:
        return Fails("hang", message)
    parts = parts_of(end.text)
    if parts.loads and parts.forks:  # Only the module is made outside of the child.
        return Unportable(f"{message} while the module is loaded")
    return Fails("signal", message, trace=end.stderr)


def _killed_by(number: int) -> str:
    return f"killed by {signal.Signals(number).name if number in signal.valid_signals() else f'signal {number}'}"


def _of_exception(end: ScriptEnd, thrown: Thrown, said: str) -> Ending:
    if thrown.by_check:
        return Fails("check", said, thrown.error, thrown.trace, thrown.of_form)
    if thrown.by_script or thrown.makes_module:
        return Unportable(thrown.error[:LONGEST])
    if end.status == FAILS or thrown.under_test:
        return Fails("exception", said, thrown.error, thrown.trace)
    return Unportable(thrown.error[:LONGEST])


# --- whose fault an exception is ------------------------------------------------------------------------

_BEGINS = "Traceback (most recent call last):"
_ERROR = re.compile(r"^((?:\w+\.)*\w+)(?:: (.*))?$", re.MULTILINE)
_UNDER_TEST = re.compile(
    r"python/tvm/(?:ir/transform|relax/vm_build|driver/\w+|tirx/build|runtime/(?:vm|module|executable)|relax/analysis/\w+"
    r"|(?:s_tir|tirx)/analysis/\w+|s_tir/schedule/\w+)\.py"
)
"""Files of TVM that apply a pass or a step of a schedule, build, run what was built, and verify."""


@dataclass(frozen=True)
class Thrown:
    """An exception that ended a script. trace: the whole text, causes above it; last: its own frames."""

    trace: str
    last: tuple[Frame, ...]
    error: str
    file: str
    text: str

    @staticmethod
    def of(end: ScriptEnd) -> Thrown | None:
        """The exception in what a script has said on stderr; None where there is none."""
        start = end.stderr.find(_BEGINS)
        if start < 0:
            return None
        trace = end.stderr[start:]
        block = trace[trace.rfind(_BEGINS) :]
        lines = block.splitlines()[1:]
        raised = next((at for at, line in enumerate(lines) if line[:1].strip() and _ERROR.match(line)), None)
        error = "" if raised is None else "\n".join(lines[raised:])
        return Thrown(trace, tuple(frames(block)), error, end.file, end.text)

    @property
    def by_script(self) -> bool:
        """Whether a line of the script raises it itself, and calls nothing of TVM that does."""
        return bool(self.last) and self.last[-1].file == self.file

    @property
    def by_check(self) -> bool:
        """Whether an `assert` of the script raises it."""
        return self.by_script and self.error.split(":")[0].strip() == "AssertionError"

    @property
    def makes_module(self) -> bool:
        """Whether it comes while the script's module is made of its text."""
        return any(one.line in self._parts.module for one in self.last if one.file == self.file)

    @property
    def of_form(self) -> bool:
        """Whether it comes of a line that asserts the form of results."""
        return self.by_script and self.last[-1].line in self._parts.form

    @property
    def under_test(self) -> bool:
        """Whether a pass, a build or what was built raises it."""
        return any(_UNDER_TEST.fullmatch(one.path) for one in self.last)

    @cached_property
    def _parts(self) -> ScriptParts:
        return parts_of(self.text)
