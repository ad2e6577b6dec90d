"""What a user asks of `passfuzz reduce`, read and checked before anything takes its time. No TVM here."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.errors import UsageError
from fuzzer.given_paths import FILE_BYTES, case_folder, unreadable
from fuzzer.oneshot.messages import Keep, Predicate
from fuzzer.own_numbers import DRAWN, OwnNumbers

_FUNCTION = re.compile(r"(?P<file>.*\.py):(?P<function>[^\W\d]\w*)")
MOST_TRIES = 1000


@dataclass(frozen=True, slots=True)
class ReduceOptions:
    """What a user asks of a reduction.

    passes: names, () for the case's own, else the loaded file's, else the default build pipeline. keep: which of
    several failures. interesting: a predicate that decides instead: a command, called as CMD FILE.py with a TVMScript
    candidate, whose exit status 0 keeps it; or FILE.py:function, called with an IRModule in a child. jobs: so many
    candidates are judged at the same time, with the same result. time_s: seconds for the search. load, target, trust,
    own: as in `fuzzer.commands.check.check_module`. output: a script, or a folder for a case, which has the best so
    far after every success; None to write nothing. resume: goes on with what an earlier reduction has left there.
    """

    passes: tuple[str, ...] = ()
    keep: Keep = Keep()
    interesting: str | None = None
    jobs: int = 1
    time_s: float = 60.0
    load: Path | None = None
    target: str | None = None
    trust: bool = False
    own: OwnNumbers = DRAWN
    output: Path | None = None
    resume: bool = False


def read_keep(oracle: str | None, message: str | None, rejections: bool, builds: bool, flaky: int) -> Keep:
    """What is kept of failures of oracles. Raises UsageError."""
    if message is not None:
        try:
            re.compile(message)
        except re.error as error:
            raise UsageError(f"--message {message}: no regular expression: {error}") from error
    if not 1 <= flaky <= MOST_TRIES:
        raise UsageError(f"--flaky {flaky}: from 1 to {MOST_TRIES} tries per candidate")
    return Keep(oracle, message, rejections, builds, flaky)


def read_predicate(typed: str, keep: Keep, passes: Sequence[str], subject: Path) -> Predicate:
    """The predicate that `--interesting` names: `FILE.py:function`, else a command. Raises UsageError."""
    for option, given in {
        "--oracle": keep.oracle is not None,
        "--message": keep.message is not None,
        "--rejections": keep.rejections,
        "--builds": keep.builds,
    }.items():
        if given:
            raise UsageError(f"--interesting and {option}: only one of them can say what is kept")
    if passes:
        raise UsageError("--interesting and --passes: with a predicate of yours no pass is applied; apply it there")
    text = _text_of(subject)
    found = _FUNCTION.fullmatch(typed)
    if found is not None and (Path(found["file"]).exists() or " " not in found["file"]):
        if (why := _unusable(Path(found["file"]))) is not None:
            raise UsageError(f"--interesting {typed}: {why}")
        return Predicate(typed, file=found["file"], function=found["function"], text=text)
    return Predicate(typed, command=_words(typed), text=text)


def _unusable(file: Path) -> str | None:
    if not file.exists():
        return f"no such file: {file}"
    return unreadable(file, FILE_BYTES)


def _words(typed: str) -> tuple[str, ...]:
    try:
        words = shlex.split(typed)
    except ValueError as error:
        raise UsageError(f"--interesting {typed}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--interesting {typed}: no such program, or it may not be executed")
    return tuple(words)


def _text_of(subject: Path) -> str | None:
    """The text of the user's module file, whose style candidates keep; None where it is no TVMScript."""
    folder = case_folder(subject)
    file = subject if folder is None else folder / "module.py"
    if folder is not None and (folder / "module.json").exists():
        return None
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None  # said by who reads the module
    return None if text.lstrip().startswith("{") else text
