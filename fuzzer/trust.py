"""Which parts of another user's data may run, decided before any of it does. No TVM here.

A case folder that this user's passfuzz has written, or that comes with passfuzz, is taken as it is, and so is what the
user says `--trust` to. Of anything else only plain TVMScript and constructors of the pass table are used.
"""

from __future__ import annotations

from pathlib import Path

from corpus.own import is_own
from corpus.replayable import CORPUS, case_folders
from corpus.store import CorruptCase, read_case
from fuzzer.errors import UsageError, tell
from fuzzer.given_paths import case_folder, picked
from fuzzer.processes.sandbox import offered
from generators.case import Case
from generators.passes.constructors import NotOfTheTable, constructor, options_of
from generators.script_shape import complaint_about

HOW = "--trust takes it all the same"


def is_trusted(folder: Path) -> bool:
    """Whether a case folder is of one's own making, or comes with passfuzz."""
    return folder.resolve().is_relative_to(CORPUS.resolve()) or is_own(folder)


def is_trusted_subject(path: Path) -> bool:
    """The same of what the user named: a case's folder or its case.json. A module alone says nothing of its origin."""
    folder = case_folder(path)
    return folder is not None and is_trusted(folder)


def only_trusted(corpus: Path | None) -> bool:
    """Whether all case folders under a corpus are one's own: what is found with them has heard of no stranger's."""
    return corpus is None or all(map(is_trusted, case_folders(corpus)))


def is_plain(folder: Path) -> bool:
    """Whether nothing of the case in a folder runs as Python but its script."""
    try:
        _refuse(folder, folder, read_case(folder).case, None)
    except (UsageError, CorruptCase):
        return False
    return True


def admit(path: Path, case: Case, load: Path | None) -> None:
    """Raises UsageError for what of another user's module or case would have to run as Python; warns where the kernel
    puts no walls around the rest.

    path: what the user named. load: the file of --load, which is the user's own choice.
    """
    if is_trusted_subject(path):
        return
    _refuse(path, case_folder(path), case, load)
    warn_of_missing_walls()


def _refuse(path: Path, folder: Path | None, case: Case, load: Path | None) -> None:
    if case.load is not None and load is None:
        raise UsageError(f"{path}: a case of another user that loads {case.load}: {HOW}; so does --load FILE.py")
    try:
        for call in (*case.setup, *case.passes):
            constructor(call.source)
            options_of(call.options)
    except NotOfTheTable as error:
        raise UsageError(f"{path}: a case of another user applies {call.name}: {error}; {HOW}") from error
    file = picked(path)[0] if folder is None else folder / "module.py"
    refused = None if case.module.json is not None else complaint_about(case.module.script)
    if refused is not None:
        line = refused.line + _cut_above(file, case.module.script)
        raise UsageError(f"{file}, line {line}: {refused.text}: not plain TVMScript, so it would run as Python; {HOW}")


def warn_of_missing_walls() -> None:
    """Says in one line on stderr what a stranger's data can do here that it could not elsewhere."""
    lacking = offered().lacking
    if lacking:
        tell(f"warning: what runs here can {lacking}: the kernel does not keep it from that")


def _cut_above(file: Path, script: str) -> int:
    """How many lines of the file are above the script, which begins below the imports."""
    first = script.split("\n", 1)[0]
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return 0
    return lines.index(first) if first in lines else 0
