"""Tries a `--load` file in a child first: it and its factories may end, crash or hang the process that evaluates them.

Worker processes only. What the file defines is looked at in `fuzzer.worker.draw`.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from oracles.forked import ChildRaised, Write, written_by

DEADLINE_S = 60.0
"""Seconds that a file may take to be evaluated, what it imports included."""
_THROUGH = b"through"
RUN_NAME = "passfuzz_loaded"


def complaint_about(path: Path, deadline_s: float = DEADLINE_S) -> str | None:
    """Why the file cannot be evaluated in this process: it ends it, crashes it or does not end itself. None: it can.

    Exceptions are no complaint: who evaluates the file sees them. Raises ChildRaised for one of ours.
    """
    ended, said = written_by(lambda write: _evaluate(path, write), deadline_s)
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
        return "is not read: the process that reads it was killed from outside, or there was no memory"
    return f"is ended by {ended.how} while it is read"


def complaint_about_factory(make: Callable[[], object]) -> str | None:
    """Why `make()` is of no use, in a few words; None when it gives something that can be applied."""
    import tvm

    try:
        with tvm.target.Target("llvm"):
            made = make()
    except BaseException as error:  # noqa: BLE001 - a user's factory may raise anything, SystemExit included
        return f"raises {first_line(error)}"
    return None if callable(made) else f"gives a value of type {type(made).__name__}, which is no tvm.transform.Pass"


def first_line(error: BaseException) -> str:
    """The kind of an exception and the first line of its text."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"


def _evaluate(path: Path, write: Write) -> None:
    """In the child: says at the end that it got through, even if the file raised."""
    try:
        passes = runpy.run_path(str(path), run_name=RUN_NAME).get("PASSES")
        for make in passes.values() if isinstance(passes, dict) else ():
            complaint_about_factory(make)
    except BaseException:  # noqa: BLE001 - a user's file may raise anything; who evaluates it next says so
        write(_THROUGH)
        return
    write(_THROUGH)
