"""What replay and the server of a TVM tell each other: tagged records, one JSON object per line.

The server's Python has TVM and what that needs, and msgspec is no part of it. So this file imports Python's own library
alone, and both sides take the records from it. `warm.py` checks what it hears; `server.py` trusts who started it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, TypeVar


@dataclass(frozen=True, slots=True)
class RunScript:
    """To the server: run a script as Python's main program.

    folder: where what it prints goes, as the files "stdout" and "stderr"; it cannot reach it otherwise. scratch: its
    own folder for files. walled: whether walls are around it. variables: of its environment, beside the server's. The
    answer carries `number`.
    """

    number: int
    script: str
    folder: str
    scratch: str
    walled: bool
    variables: dict[str, str]
    limit_s: float


@dataclass(frozen=True, slots=True)
class TvmReady:
    """From the server, first: TVM is imported. file: of its package. ffi: the version of tvm_ffi. not_read: as
    `corpus.portable.shims` names it; shimmed: whether names were lacking; stamp: tells one build from the next."""

    version: str
    file: str
    ffi: str
    not_read: tuple[str, ...]
    shimmed: bool
    stamp: str


@dataclass(frozen=True, slots=True)
class NoTvm:
    """From the server, first and last: why TVM cannot be imported."""

    why: str


@dataclass(frozen=True, slots=True)
class ScriptRan:
    """From the server: a script has ended. status: as a shell has it, 128 and the number of a signal that ended it.
    timed_out: it was ended after its `limit_s`."""

    number: int
    status: int
    timed_out: bool
    wall_s: float
    cpu_s: float


FromServer: TypeAlias = TvmReady | NoTvm | ScriptRan
_Record = TypeVar("_Record")
FROM_SERVER: tuple[type[FromServer], ...] = (TvmReady, NoTvm, ScriptRan)


def line_of(message: RunScript | FromServer) -> bytes:
    """The line of a record, with the name of its class as "type"."""
    return json.dumps({"type": type(message).__name__, **asdict(message)}).encode() + b"\n"


def fields_of(line: bytes, classes: Sequence[type[_Record]]) -> tuple[type[_Record], dict[str, Any]]:
    """Which of the classes a line is of, and its fields. Raises ValueError for anything else."""
    said = json.loads(line)
    named = {one.__name__: one for one in classes}
    tag = said.pop("type", None) if isinstance(said, dict) else None
    if not (isinstance(tag, str) and tag in named):
        raise ValueError(f"no message of {', '.join(named)}")
    return named[tag], said
