"""What `fuzzer.capture.inside` has written, read when the command has ended. Nothing of it is run. No TVM here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from corpus.regular_files import read_regular
from corpus.store import MOST_TEXT, UNREADABLE


class Level(msgspec.Struct, frozen=True):
    """A pass that was running, and what it was made with.

    number: how often one of its name had been applied, itself included. tvm: the version of the command's TVM.
    constructor, definitions: the expression that makes it, and the source text that this needs; "" where not known.
    unsaid: what is missing there. target: TVM's kind, None without one in scope. config: the options of the PassContext
    as a dict in Python text. inside: the passes around it. place: FILE:LINE of the command. module: the number of the
    level whose module it was given.
    """

    name: str
    number: int
    tvm: str
    constructor: str
    definitions: str
    unsaid: list[str]
    target: str | None
    target_text: str | None
    config: str
    opt_level: int
    test: str
    place: str
    inside: list[str]
    at_s: float
    module: str


class _About(msgspec.Struct, frozen=True):
    kind: str
    message: str
    depth: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Raw:
    """A pass call that was captured. levels: the passes that ran inside of each other, outermost first, at least one.

    kind, message: of the exception, "" for one that did not end, or was asked for. escaped: whether the exception ended
    the command, or a test.
    """

    folder: Path
    levels: tuple[Level, ...]
    at_s: float
    kind: str = ""
    message: str = ""
    escaped: bool = False

    def module(self, level: Level) -> str:
        """The text of the module that a level was given: TVM's JSON, or a script of another TVM. Raises OSError."""
        return read_regular(self.folder / f"{level.module}.module", MOST_TEXT).decode()


@dataclass(frozen=True, slots=True)
class Spooled:
    """All that a command has left. unended: pass calls that ran when their process ended, oldest first.

    tvm: whether any process has imported TVM. faults: what went wrong in our own part, one line each.
    """

    failures: tuple[Raw, ...]
    unended: tuple[Raw, ...]
    kept: tuple[Raw, ...]
    tvm: bool
    faults: tuple[str, ...]


def read_spool(spool: Path) -> Spooled:
    """Reads the folder. What is cut or unreadable is left out, and counted among the faults."""
    faults: list[str] = []
    failures = [_copied(folder, faults) for folder in spool.glob("failure-*")]
    kept = [_copied(folder, faults) for folder in spool.glob("kept-*")]
    running = [_running(file.parent, faults) for file in spool.glob("*/running")]
    for file in sorted(spool.glob("fault-*")):
        faults += file.read_text(encoding="utf-8", errors="replace").splitlines()
    return Spooled(
        _in_order(failures), _in_order(running), _in_order(kept), any(spool.glob("tvm-*")), tuple(dict.fromkeys(faults))
    )


def _in_order(found: list[Raw | None]) -> tuple[Raw, ...]:
    return tuple(sorted((raw for raw in found if raw is not None), key=lambda raw: raw.at_s))


def _copied(folder: Path, faults: list[str]) -> Raw | None:
    try:
        about = msgspec.json.decode(read_regular(folder / "about", MOST_TEXT), type=_About)
        levels = _levels(folder, about.depth)
        escaped = (folder / "escaped").exists()
        return Raw(folder, levels, about.at_s, about.kind, about.message, escaped) if levels else None
    except UNREADABLE as error:
        faults.append(f"{folder.name}: {error}")
        return None


def _running(folder: Path, faults: list[str]) -> Raw | None:
    try:
        depth = int(read_regular(folder / "running", MOST_TEXT) or b"0")
        levels = _levels(folder, depth)
        return Raw(folder, levels, levels[-1].at_s) if levels else None
    except UNREADABLE as error:
        faults.append(f"{folder.name}: {error}")
        return None


def _levels(folder: Path, depth: int) -> tuple[Level, ...]:
    files = [folder / f"{number}.said" for number in range(depth)]
    return tuple(msgspec.json.decode(read_regular(file, MOST_TEXT), type=Level) for file in files)
