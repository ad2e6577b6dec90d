"""What the process that makes cases is asked, and what it answers. No TVM here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from fuzzer.capture.raw import Raw
from fuzzer.protocol import Done

Why: TypeAlias = Literal["raised", "caught", "unended", "asked"]


@dataclass(frozen=True, slots=True)
class Task:
    """A pass call that becomes a case. out: its folder. why: why it was captured. how: how its process ended, for
    readers. command: as typed."""

    raw: Raw
    out: Path
    why: Why
    how: str
    command: str


class CaseMade(Struct, frozen=True, tag="made"):
    """A case is there. source: the pass as the case constructs it. shows: what the case alone shows in a fresh child:
    the failure again, something else, or nothing. notes: what a reader should know."""

    folder: str
    name: str
    source: str
    message: str
    shows: bool
    notes: tuple[str, ...]


class NotMade(Struct, frozen=True, tag="not made"):
    """No case could be made, and why."""

    name: str
    why: str


Settled: TypeAlias = CaseMade | NotMade | Done
