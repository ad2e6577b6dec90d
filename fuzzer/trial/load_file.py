"""Tries a `--load` file in a child first: it and its factories may end, crash or hang the process that evaluates them.

Worker processes only. What the file defines is looked at in `fuzzer.worker.draw`.
"""

from __future__ import annotations

import runpy
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from oracles.forked import ChildRaised, Write, written_by

DEADLINE_S = 60.0
"""Seconds that a file may take to be evaluated, what it imports included."""
SLOW_S = 5.0
"""Seconds after which the user is told what is waited for."""
READ_AGAIN = 2
"""So many processes that read the file may be killed before it is taken for what kills them."""
Tell: TypeAlias = Callable[[str], object]
"""Takes a line that the user must see."""
_THROUGH = b"through"
RUN_NAME = "passfuzz_loaded"


def complaint_about(
    path: Path, deadline_s: float = DEADLINE_S, tell: Tell = lambda _line: None, slow_s: float = SLOW_S
) -> str | None:
    """Why the file cannot be evaluated in this process: it ends it, crashes it or does not end itself. None: it can.

    Exceptions are no complaint: who evaluates the file sees them. tell: is given one line after `slow_s`. Raises
    ChildRaised for an exception of ours.
    """
    waiting = [f"{path}: still reading it, for up to {deadline_s:g} s"]
    slow_at = time.monotonic() + slow_s

    def look() -> None:
        if waiting and time.monotonic() >= slow_at:
            tell(waiting.pop())

    for _ in range(READ_AGAIN):
        ended, said = written_by(lambda write: _evaluate(path, write), deadline_s, look)
        if ended is None or not ended.from_outside:
            break
    if said == _THROUGH:
        return None
    assert ended is not None, "a child that gets through says so"
    if ended.hung:
        return f"is not read to its end within {deadline_s:g} s"
    if ended.raised:
        raise ChildRaised(ended.what)
    if ended.cut_off:
        return "closes the descriptors of the process that reads it"
    if ended.by_exit:
        return f"ends the process that reads it with status {ended.status}"
    if ended.from_outside:
        return f"is not read: {READ_AGAIN} processes that read it were killed, by it or from outside, or memory ran out"
    return f"is ended by {ended.how} while it is read"


class UselessFactory(Exception):
    """A factory of the file that gives nothing to be applied; the message is one line that says why."""


def pass_of(path: Path, name: str, make: Callable[[], object]) -> object:
    """What `make()`, the factory of a pass, gives to be applied. Raises UselessFactory."""
    import tvm

    called = f"PASSES[{name!r}]()"
    try:
        with tvm.target.Target("llvm"):
            made = make()
    except BaseException as error:  # noqa: BLE001 - a user's factory may raise anything, SystemExit included
        raise UselessFactory(f"{place_in(path, error)}: {called} {_raised(error)}") from error
    if callable(made):
        return made
    raise UselessFactory(
        f"{path}: {called} gives a value of type {type(made).__name__}, which is no tvm.transform.Pass"
    )


def complaint_about_error(path: Path, error: BaseException) -> str:
    """What evaluating the file has raised, in a line."""
    return f"{place_in(path, error)}: {_raised(error) if isinstance(error, SystemExit) else first_line(error)}"


def _raised(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"ends the process (SystemExit: {error.code})"
    return f"raises {first_line(error)}"


def place_in(path: Path, error: BaseException) -> str:
    """The file, and the last line of it that led to the exception, where one did."""
    whole = path.absolute()
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).absolute() == whole:
        return f"{path}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).absolute() == whole]
    return f"{path}, line {lines[-1]}" if lines else str(path)


def first_line(error: BaseException) -> str:
    """The kind of an exception and the first line of its text."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)  # whose text ends with its file and line
    text = (said or "").strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"


def _evaluate(path: Path, write: Write) -> None:
    """In the child: says at the end that it got through, even if the file raised."""
    try:
        passes = runpy.run_path(str(path), run_name=RUN_NAME).get("PASSES")
        for name, make in dict(passes).items() if isinstance(passes, dict) else ():
            pass_of(path, name, make)
    except BaseException:  # noqa: BLE001 - a user's file may raise anything; who evaluates it next says so
        write(_THROUGH)
        return
    write(_THROUGH)
