"""What can go wrong on our side, by name, and the exit status each maps to. What TVM does wrong is a Verdict."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from enum import IntEnum
from types import FrameType
from typing import TypeAlias

import typer

from corpus.escapes import inert, one_line

Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None
"""What `signal.getsignal` gives."""
DEBUG_VARIABLE = "PASSFUZZ_DEBUG"
"""Set to 1 to see the Python traceback of an error above its line."""


class ExitStatus(IntEnum):
    """What scripts and CI jobs rely on."""

    CLEAN = 0
    """No new cause."""
    NEW_FINDING = 1
    WRONG_USAGE = 2
    OWN_FAULT = 3
    """The environment cannot run passfuzz, or passfuzz itself is wrong, or a loaded pass ends processes and no script
    shows how: what was found cannot be trusted."""
    REPLAY_REGRESSION = 4
    INTERRUPTED = 130
    """Ctrl-C, or SIGTERM, in a command that has nothing to save, or a second time; the shell's convention, 128 +
    SIGINT."""
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


def status_of_command(command: Callable[[], int]) -> int:
    """The exit status of a command: what it gives, or that of the exception that ends it, which is one line on stderr.

    With PASSFUZZ_DEBUG=1 Python's traceback comes before the line.
    """
    try:
        return command()
    except typer.Exit as end:
        return end.exit_code
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or ExitStatus.CLEAN
        tell(f"error: {end.code}")  # Python would say it, and end with 1
        return ExitStatus.OWN_FAULT
    except BaseException as error:  # noqa: BLE001 - the top: an exception that passes ends Python with 1, a finding
        if os.environ.get(DEBUG_VARIABLE) == "1":
            traceback.print_exception(error)
        tell(line_of(error))
        return status_of(error)


def end_like_ctrl_c() -> None:
    """Has SIGTERM, and SIGHUP where it is not ignored (nohup), end a command like Ctrl-C: what it has begun is tidied
    up and what it has started ends. A campaign that is under way ends in order (`fuzzer.campaign.interrupts`)."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, interrupt)


def refuse_empty(arguments: Sequence[str]) -> None:
    """Raises UsageError for an empty argument: no option takes one, and an empty path would be the current folder. An
    unset variable of a script gives one: `--out "$OUT"`."""
    for place, word in enumerate(arguments):
        if word == "--":  # what follows is another program's command line
            return
        if word == "":
            before = arguments[place - 1] if place else ""
            option = before if before.startswith("-") else f"argument {place + 1}"
        elif word.startswith("--") and word.endswith("=") and word.count("=") == 1:
            option = word[:-1]
        else:
            continue
        raise UsageError(f"{option}: is empty")


def tell(line: str) -> None:
    """Says a line on stderr, in which text from elsewhere has no effect. Where that cannot be written, nothing is
    said."""
    try:
        print(f"passfuzz: {inert(one_line(line))}", file=sys.stderr)
    except (OSError, ValueError):  # the stream of a program that calls `main` from Python
        return


def status_of(error: BaseException) -> ExitStatus:
    """The exit status of an exception that reached the top."""
    match error:
        case PassfuzzError():
            return error.status
        case typer.TyperException():
            return ExitStatus.WRONG_USAGE
        case KeyboardInterrupt() | typer.Abort():
            return ExitStatus.INTERRUPTED
        case _:
            return ExitStatus.OWN_FAULT


def of_system(error: OSError) -> str:
    """An error of the system for people: the file, and what is wrong with it."""
    if not error.strerror:
        return str(error) or type(error).__name__
    what = error.strerror[0].lower() + error.strerror[1:]
    if isinstance(error, FileNotFoundError) and error.filename is None and not _has_working_directory():
        return f"the working directory: {what}"
    names = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    return f"{names}: {what}" if names else what


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _of_value(error: typer.BadParameter, option: str) -> str:
    """What is wrong with the value of an option or argument, as all other errors say it. Typer reads numbers by
    pydantic, whose text speaks of inputs and parsing."""
    wrong = getattr(error.__cause__, "errors", None)
    if not callable(wrong):
        return f"{option}: {error.message.rstrip('.')}"
    first = wrong()[0]
    wanted = next((what for kind, what in _WANTED.items() if first["type"].startswith(kind)), error.message)
    return f"{option} {first['input']}: {wanted}"


_WANTED = {"int": "a whole number is wanted", "float": "a number is wanted"}
"""By how pydantic's kinds of errors begin."""


def line_of(error: BaseException) -> str:
    """One line for people: what went wrong, and where to look when it is our own fault."""
    match error:
        case PassfuzzError():
            text = f"error: {error}"
        case typer.BadParameter() if error.param is not None and error.message:
            names = [name for name in error.param.opts if name.startswith("-")] or [
                error.param.get_error_hint().strip("'")
            ]
            text = f"error: {_of_value(error, names[0])}"
        case typer.TyperException():
            text = f"error: {error.format_message()}"
        case KeyboardInterrupt() | typer.Abort():
            text = f"interrupted: {error}" if str(error) else "interrupted"
        case OSError():
            text = f"error: {of_system(error)}"
        case MemoryError():
            text = "error: out of memory"
        case _:
            text = f"internal error: {type(error).__name__}: {error} (set {DEBUG_VARIABLE}=1 for the traceback)"
    return " ".join(text.split())
