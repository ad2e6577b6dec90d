"""Work in a forked child, which TVM may end: what it says before it ends is kept."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, get_origin

import msgspec

from oracles.forked import Write, written_by

M = TypeVar("M")
ToParent: TypeAlias = Callable[[M], None]
"""Says a message to the parent."""
DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True)
class Said(Generic[M]):
    """messages: what the child said, in order. cpu_s: CPU seconds of it and of what it has waited for, user and system.
    ended: by itself, neither crashed nor stopped at the deadline."""

    messages: list[M]
    cpu_s: float
    ended: bool


def in_child(action: Callable[[ToParent[M]], None], of: Any, deadline_s: float = DEADLINE_S) -> Said[M]:
    """Runs `action` in a child of this process, both outputs silent unless PASSFUZZ_DEBUG is set. The deadline counts
    seconds in which the child could have got on. One child at a time: CPU seconds are those of all children.

    of: the type of messages, a record or what else msgspec takes; `action` is given what says one.
    """

    def work(write: Write) -> None:
        if "PASSFUZZ_DEBUG" not in os.environ:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        action(lambda message: write(msgspec.json.encode(message) + b"\n"))

    before = _of_children()
    ended, data = written_by(work, deadline_s)
    decoder: msgspec.json.Decoder[M] = msgspec.json.Decoder(of, dec_hook=_made)
    whole = data.split(b"\n")[:-1]
    return Said([decoder.decode(line) for line in whole], _of_children() - before, ended is None)


def _made(kind: Any, value: Any) -> Any:
    """A value of a class that JSON has not, such as a Counter."""
    return (get_origin(kind) or kind)(value)


def _of_children() -> float:
    """CPU seconds of the children that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
