"""One call of a user's predicate, in a process of its own: a command, or a Python function in a forked child."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryFile
from typing import IO, TypeAlias

from generators.tvm_api import IRModule
from oracles.family import adopt_orphans, children, die_with_parent, end_children
from oracles.forked import Ended, forked
from oracles.tail import tail

SHOWN_BYTES = 4000
"""Of what a predicate prints, its end."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The module is interesting."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """It is not. how: what the predicate did, as a verb. wanted: what would be interesting. printed: the end of what it
    has printed, where that was wanted."""

    how: str
    wanted: str
    printed: str = ""


OneShotAnswer: TypeAlias = Accepted | Refusal
_ZERO = "0 would be interesting"
_TRUE = "a true value would be interesting"


# --- a command ------------------------------------------------------------------------------------------


def answer_of_command(command: Sequence[str], limit_s: float, shown: bool) -> OneShotAnswer:
    """What a command says: status 0 is interesting. shown: whether what it prints is wanted."""
    with TemporaryFile() as output:
        try:
            status = status_of(command, limit_s, output if shown else None)
        except OSError as error:
            return Refusal(f"cannot be run ({error.strerror})", _ZERO)
        if status == 0:
            return Accepted()
        how = f"does not end within {limit_s:g} s" if status is None else f"ends with status {status}"
        return Refusal(how, _ZERO, tail(output.fileno(), SHOWN_BYTES))


def status_of(command: Sequence[str], limit_s: float, output: IO[bytes] | None = None) -> int | None:
    """The exit status of a command, negative for a signal; None when it takes too long. It ends with this process,
    and what it starts ends with it. output: a file for what it prints. Raises OSError where it cannot be run."""
    adopt_orphans()
    siblings = children()
    where = subprocess.DEVNULL if output is None else output
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=where,
        stderr=where,
        start_new_session=True,
        preexec_fn=_dies_with(os.getpid()),
    )
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        end_children(siblings)


def _dies_with(parent: int) -> Callable[[], None]:
    return partial(die_with_parent, parent)


# --- a function -----------------------------------------------------------------------------------------


def answer_of_function(
    function: Callable[[IRModule], object], module: IRModule, limit_s: float, shown: bool
) -> OneShotAnswer:
    """What a function says, called in a child on a module that is its own: anything true is interesting. One that
    raises, ends its process or takes too long says no. shown: whether what it prints is wanted."""
    with TemporaryFile() as output:
        said = forked(lambda: _called(function, module, output if shown else None), limit_s)
        printed = tail(output.fileno(), SHOWN_BYTES)
    match said:
        case Ended(hung=True):
            return Refusal(f"does not return within {limit_s:g} s", _TRUE, printed)
        case Ended():
            return Refusal(f"ends its process ({said.how})", _TRUE, printed)
        case Refusal():
            return Refusal(said.how, said.wanted, printed)
        case _:
            return said


def _called(function: Callable[[IRModule], object], module: IRModule, output: IO[bytes] | None) -> OneShotAnswer:
    """In the child."""
    where = os.open(os.devnull, os.O_WRONLY) if output is None else output.fileno()
    os.dup2(where, 1)
    os.dup2(where, 2)
    try:
        said = function(module)
        return Accepted() if said else Refusal(f"returns {said!r:.80}", _TRUE)
    except Exception as error:  # noqa: BLE001 - the boundary to the user's code
        traceback.print_exc()
        return Refusal(f"raises {type(error).__name__}", _TRUE)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
