"""What can go wrong on our side, by name, and the exit status each maps to. What TVM does wrong is a Verdict."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from types import TracebackType

import typer

DEBUG_VARIABLE = "PASSFUZZ_DEBUG"
"""Set to 1 to see the Python traceback of an error instead of one line."""


class ExitStatus(IntEnum):
    """What scripts and CI jobs rely on."""

    CLEAN = 0
    """No new finding."""
    NEW_FINDING = 1
    WRONG_USAGE = 2
    OWN_FAULT = 3
    """The environment cannot run passfuzz, or passfuzz itself is wrong."""
    REPLAY_REGRESSION = 4
    INTERRUPTED = 130
    """Ctrl-C in a command that has nothing to save; the shell's convention, 128 + SIGINT."""
    NO_READER = 141
    """The reader of our output went away (`passfuzz list ops | head`); the shell's convention, 128 + SIGPIPE."""


class PassfuzzError(Exception):
    """An error of ours that has an exit status; its text is one line that says what and how to mend it."""

    status = ExitStatus.OWN_FAULT


class UsageError(PassfuzzError):
    """The user asked for something that does not exist or cannot be read."""

    status = ExitStatus.WRONG_USAGE


class EnvironmentFault(PassfuzzError):
    """This machine or this installation cannot do what was asked."""


class OneLineErrors:
    """A context in which every exception ends the process with its exit status and one line on stderr.

    With PASSFUZZ_DEBUG=1 exceptions pass through, and Python prints its traceback.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
            error = error.__context__  # Typer would exit with 1, which says that there is a new finding.
        if error is None or isinstance(error, SystemExit) or os.environ.get(DEBUG_VARIABLE) == "1":
            return
        if isinstance(error, BrokenPipeError):
            # Python flushes at exit, which must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        else:
            print(f"passfuzz: {line_of(error)}", file=sys.stderr)
        raise SystemExit(int(status_of(error))) from None


def status_of(error: BaseException) -> ExitStatus:
    """The exit status of an exception that reached the top."""
    match error:
        case PassfuzzError():
            return error.status
        case typer.TyperException():
            return ExitStatus.WRONG_USAGE
        case KeyboardInterrupt() | typer.Abort():
            return ExitStatus.INTERRUPTED
        case BrokenPipeError():
            return ExitStatus.NO_READER
        case _:
            return ExitStatus.OWN_FAULT


def line_of(error: BaseException) -> str:
    """One line for people: what went wrong, and where to look when it is our own fault."""
    match error:
        case PassfuzzError():
            text = f"error: {error}"
        case typer.TyperException():
            text = f"error: {error.format_message()}"
        case KeyboardInterrupt() | typer.Abort():
            text = "interrupted"
        case OSError():
            text = f"error: {error}"
        case _:
            text = f"internal error: {type(error).__name__}: {error} (set {DEBUG_VARIABLE}=1 for the traceback)"
    return " ".join(text.split())
